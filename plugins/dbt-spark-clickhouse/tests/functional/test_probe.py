def test_all(killed, first_build, later, without_java, refused_hand_offs, interrupted):
    import pprint

    for x in (killed, first_build, later, without_java, refused_hand_offs, interrupted):
        pprint.pprint(x, width=200)
    assert 0
