{# The batches of all locations of a change set, in order. A batch that is in several locations is one batch. `again`:
   whether to list the files anew, and not to use what this run has already listed. #}
{% macro read_landed_batches(model, again=false) %}
  {%- set by_location = [] -%}
  {%- for location in versioned_collapsing.get_landing_locations(model) -%}
    {%- do by_location.append(versioned_collapsing.read_location(location, again)) -%}
  {%- endfor -%}
  {%- if by_location | length == 1 -%}{%- do return(by_location[0]) -%}{%- endif -%}
  {%- set by_batch = {} -%}
  {%- for batches in by_location -%}
    {%- for batch, found in batches.items() -%}
      {%- do by_batch.setdefault(batch, []).append(found) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- set landed = {} -%}
  {%- for batch in by_batch | sort -%}
    {%- set hashes = by_batch[batch] | map(attribute='hash') | list -%}
    {%- do landed.update({batch: {
        'files': by_batch[batch] | sum(attribute='files'),
        'landed_at': by_batch[batch] | map(attribute='landed_at') | max,
        'times': by_batch[batch] | map(attribute='times') | join(','),
        'locations': by_batch[batch] | sum(attribute='locations', start=[]),
        'hash': hashes[0] if hashes | length == 1 else local_md5(hashes | join(',')),
    }}) -%}
  {%- endfor -%}
  {%- do return(landed) -%}
{% endmacro %}
