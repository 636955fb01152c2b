{# The batches of all locations of a change set, in order. A batch that is in several locations is one batch. `again`:
   whether to list the files anew, and not to use what this run has already listed. #}
{% macro read_landed_batches(model, again=false) %}
  {%- set by_batch = {} -%}
  {%- for location in versioned_collapsing.get_landing_locations(model) -%}
    {%- for batch, found in versioned_collapsing.read_location(location, again).items() -%}
      {%- do by_batch.setdefault(batch, []).append(dict(found, location=location)) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- set landed = {} -%}
  {%- for batch in by_batch | sort -%}
    {%- set hashes = by_batch[batch] | map(attribute='hash') | list -%}
    {%- do landed.update({batch: {
        'files': by_batch[batch] | sum(attribute='files'),
        'landed_at': by_batch[batch] | map(attribute='landed_at') | max,
        'locations': by_batch[batch] | map(attribute='location') | list,
        'hash': hashes[0] if hashes | length == 1 else local_md5(hashes | join(',')),
    }}) -%}
  {%- endfor -%}
  {%- do return(landed) -%}
{% endmacro %}
