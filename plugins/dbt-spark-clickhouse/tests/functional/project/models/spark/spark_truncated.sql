select id from range(3)
