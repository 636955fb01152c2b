{# What Spark and the landing zone keep of a model, as further places of _read_places. `drops`: a table of Spark that
   the next run makes again. `lines`: file, number and hash of each line in `locations` that has one of the keys. #}
{% macro read_places_of_files(node, subject) %}
  {%- set places = [] -%}
  {%- set upstream = versioned_collapsing.get_built_upstream(node.depends_on.nodes)
      if adapter.received is defined else [] -%}
  {%- for other in graph.nodes.values() if other.database == 'spark'
      and (other.unique_id in upstream or other.depends_on.nodes | select('in', upstream) | list) -%}
    {%- if other.config.materialized == 'change_set' -%}
      {%- set found = [other.alias] -%}
      {%- for parent in other.depends_on.nodes -%}
        {%- if parent in graph.sources -%}
          {%- set lake = graph.sources[parent] -%}
          {%- do places.append(versioned_collapsing._get_spark_place(lake.schema, lake.identifier, 'not reached')) -%}
        {%- elif graph.nodes[parent].config.materialized == 'view' -%}
          {%- do found.append(other.alias ~ '__' ~ graph.nodes[parent].alias) -%}
        {%- endif -%}
      {%- endfor -%}
      {%- for identifier in found -%}
        {%- do places.append(versioned_collapsing._get_spark_place(other.schema, identifier, 'dropped')) -%}
      {%- endfor -%}
    {%- elif other.config.materialized == 'view' and other.unique_id in upstream -%}
      {%- do places.extend(versioned_collapsing._read_places_of_view(other, subject)) -%}
    {%- elif other.resource_type in ('model', 'seed', 'snapshot')
        and other.config.materialized not in ('view', 'ephemeral') -%}
      {%- do places.append(versioned_collapsing._get_spark_place(other.schema, other.alias, 'not reached')) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(places) -%}
{% endmacro %}

{% macro _get_spark_place(schema, identifier, how) %}
  {%- do return({
      'name': 'spark.' ~ schema ~ '.' ~ identifier, 'how': how, 'is_ours': false,
      'drops': [schema, identifier] if how == 'dropped' else none
  }) -%}
{% endmacro %}

{# Searches the files of a staging view. Spark writes the keys of all lines, and ClickHouse compares them: so the keys
   that are sought stand in no statement. #}
{% macro _read_places_of_view(view, subject) %}
  {%- set locations = versioned_collapsing._get_own_locations(view) -%}
  {%- set place = {'name': locations | join(', '), 'how': 'not reached', 'is_ours': false} -%}
  {%- set relation = versioned_collapsing._quote_on_spark([view.schema, view.alias]) -%}
  {%- set names = adapter.query_on('spark', 'describe table ' ~ relation).rows | map(attribute=0) | list
      if locations and adapter.get_relation('spark', view.schema, view.alias) is not none else [] -%}
  {%- set key = versioned_collapsing._get_key_of_lines(subject, names) -%}
  {%- set reads_part = versioned_collapsing.get_partial_view_problems(
      relation, adapter.view_statement(view.schema, view.alias), locations
  ) -%}
  {%- if not key or reads_part or ['_file', '_block_start', '_raw_line'] | reject('in', names) | list -%}
    {%- do return([place] if locations else []) -%}
  {%- endif -%}
  {%- set found = view.alias ~ '__dbt_forget' -%}
  {%- do adapter.purge(view.schema, found) -%}
  {%- set create -%}
    create table {{ versioned_collapsing._quote_on_spark([view.schema, found]) }} using parquet as
    select
      {%- for column in key %}
      {{ versioned_collapsing._quote_on_spark([column.read]) }} as _dbt_key_{{ loop.index }},
      {%- endfor %}
      _file,
      _dbt_line,
      _dbt_hash
    from (
      select *, row_number() over (partition by _file order by _block_start, _dbt_id) as _dbt_line
      from (select *, monotonically_increasing_id() as _dbt_id, md5(_raw_line) as _dbt_hash from {{ relation }})
    )
  {%- endset -%}
  {%- do adapter.query_on('spark', create) -%}
  {%- set query -%}
    select toJSONString(groupArray((_file, _dbt_line, _dbt_hash))) as _dbt_found
    from {{ adapter.received(view.schema, found) }}
    where {{ versioned_collapsing._get_is_sought_sql(key, subject) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set lines = fromjson(run_query(query).rows[0]['_dbt_found']) -%}
  {%- do adapter.purge(view.schema, found) -%}
  {%- do return([dict(place, how='removed', locations=locations, lines=lines, count=lines | length)]) -%}
{% endmacro %}

{% macro _get_own_locations(view) %}
  {%- set locations = [] -%}
  {%- for unique_id in view.depends_on.nodes if unique_id in graph.sources -%}
    {%- do locations.append(graph.sources[unique_id].external.location or '') -%}
  {%- endfor -%}
  {%- do return(locations | select | list) -%}
{% endmacro %}

{# The columns of the key, each with the column of the lines that has it (`read`). None if one is missing. The key of a
   quarantine is the place of a line. The name of its source is no part of a line, so it has no hash. #}
{% macro _get_key_of_lines(subject, names) %}
  {%- set of_place = {'batch': '_batch', 'file': '_file', 'line_number': '_dbt_line'} -%}
  {%- set is_place = of_place | reject('in', subject.columns | map(attribute='name') | list) | list == [] -%}
  {%- set key = [] -%}
  {%- for column in subject.columns
      if not (is_place and subject.relation and column.name == 'source_table') -%}
    {%- set read = column.name if column.name in names else of_place.get(column.name) if is_place -%}
    {%- if not read -%}{%- do return([]) -%}{%- endif -%}
    {%- do key.append(dict(column, read=read)) -%}
  {%- endfor -%}
  {%- do return(key) -%}
{% endmacro %}

{# The condition that a line has one of the staged keys, or one that was ever forgotten. #}
{% macro _get_is_sought_sql(key, subject) %}
  {%- set cast = versioned_collapsing._get_cast_key(key, '_dbt_key_') -%}
  {%- set conditions = [] -%}
  {%- if subject.relation -%}
    {%- do conditions.append(versioned_collapsing._get_has_key_sql(cast, subject.relation)) -%}
  {%- endif -%}
  {%- if subject.seeks_known and key | length == subject.columns | length -%}
    {%- do conditions.append(versioned_collapsing._get_is_known_sql(subject.table, cast, subject.secret)) -%}
  {%- endif -%}
  {%- do return(conditions | join(' or ')) -%}
{% endmacro %}

{# Drops tables of Spark, and overwrites lines. What cannot be overwritten becomes a place of its own. Returns all
   places. #}
{% macro erase_files(places, apply) %}
  {%- set left = [] -%}
  {%- for place in places -%}
    {%- if place.drops or place.lines -%}{%- do versioned_collapsing.keep_lock(apply) -%}{%- endif -%}
    {%- if place.drops -%}
      {%- do adapter.purge(place.drops[0], place.drops[1]) -%}
    {%- elif place.lines -%}
      {%- set kept = adapter.blank_lines(place.locations, place.lines) -%}
      {%- do place.update(count=kept.values() | map('length') | sum) -%}
      {%- for file, numbers in kept.items() -%}
        {%- do left.append({
            'name': file, 'how': 'not reached', 'is_ours': false, 'count': numbers | length, 'numbers': numbers
        }) -%}
      {%- endfor -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(places + left) -%}
{% endmacro %}

{% macro _quote_on_spark(names) %}
  {%- do return('`' ~ names | map('replace', '`', '``') | join('`.`') ~ '`') -%}
{% endmacro %}
