select
    image.id as id,
    image.amount as amount,
    image.at as at,
    image.at as _version,
    _sign
  from (
    select
    id,
    _is_truncate,
    min_by(if(_is_after, null, struct(id, amount, at)), struct(_batch, _is_after)) as _row_before,
    max_by(if(_is_after, struct(id, amount, at), null), struct(_batch, _is_after)) as _row_after,
    max(struct(_batch, _is_after)) as _last,
    sum(if(_is_after, 1, -1)) = int(max(struct(_batch, _is_after))._is_after) - int(not min(struct(_batch, _is_after))._is_after) as _is_connected
  from shop__orders_changes__feed
  group by id, _is_truncate
  )
  lateral view inline(case
    when not _is_connected then raise_error(concat(
        'The lake table has more than one row of the key ', to_json(struct(id)), '. A change feed '
        'needs a key that is unique in the lake table: correct `key`, or remove the duplicates and run again.'
      ))
    when _row_after.at <= _row_before.at and not _row_before <=> _row_after
      then raise_error(concat(
      'The row of the key ', to_json(struct(id)), ' changes and its at does not grow: ',
      _row_before.at, ' before, ', _row_after.at, ' after. Signed rows need a version that grows '
      'with every change. Choose such a column, or leave `version` out and use old_state lookup.'
    ))
    else array(
      struct(_row_before as image, cast(-1 as tinyint) as _sign),
      struct(_row_after as image, cast(1 as tinyint) as _sign)
    )
  end) as image, _sign
  where image is not null
    and not _is_truncate
    and not _row_before <=> _row_after
