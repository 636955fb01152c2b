select
    id,
    _row_after.amount as amount,
    _row_after.at as at,
    case
      when _is_truncate then _last._batch - 1
      when _is_connected then _last._batch
      else raise_error(concat(
        'The lake table has more than one row of the key ', to_json(struct(id)), '. A change feed '
        'needs a key that is unique in the lake table: correct `key`, or remove the duplicates and run again.'
      ))
    end as _version,
    not _last._is_after as _is_deleted,
    _is_truncate
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
