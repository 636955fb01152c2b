{# Everything that is read besides the tables with signs must stay the same from one run to the next. #}
{% macro _get_table_problems(tree, shape) %}
  {%- set signed = shape.tables + shape.elsewhere | list -%}
  {%- set following = (
      'View', 'MaterializedView', 'LiveView', 'WindowView', 'Merge', 'Distributed', 'Buffer', 'Alias',
      'CollapsingMergeTree', 'VersionedCollapsingMergeTree',
  ) -%}
  {%- set merging = ('ReplacingMergeTree', 'SummingMergeTree', 'AggregatingMergeTree', 'CoalescingMergeTree') -%}
  {%- set still = '(numbers|zeros)(_mt)?|primes|values|format|generate_?series|dictionary|null' -%}
  {%- set problems = [] -%}
  {%- for node in tree if node.kind == 'TABLE' and node not in signed -%}
    {%- set engine = node.engine.replace('Replicated', '').replace('Shared', '') -%}
    {%- if engine in following -%}
      {%- do problems.append(
          node.name ~ " is of the engine " ~ node.engine ~ ", so its rows can change, and the view does not "
          ~ "notice. `ref` the versioned_collapsing model that it reads, and write its select here as a CTE. A table "
          ~ "or seed of constants is fine too."
      ) -%}
    {%- elif node.materialized not in ('', 'dictionary') -%}
      {%- do problems.append(
          node.name ~ " is a model of the materialization " ~ node.materialized ~ ", and the view does not notice when "
          ~ "a run changes it. Make it a seed if it is constant, and a versioned_collapsing model if it is not."
      ) -%}
    {%- elif engine in merging and 'final: 1' not in node.role -%}
      {%- do problems.append(
          node.name ~ " is of the engine " ~ node.engine ~ ", so merges change its rows. Read it with `final`, and "
          ~ "only if it is constant."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for node in tree if node.kind == 'TABLE_FUNCTION' and not modules.re.fullmatch(still, node.name | lower) -%}
    {%- do problems.append(
        "The table function " ~ node.name ~ " can return other rows in the next run. Put its rows into a table or "
        ~ "seed, and `ref` that."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# Functions and columns that may have other values in the next run. Dictionaries count as constants. #}
{% macro _get_function_problems(tree) %}
  {%- set unstable -%}
    rand.*|generate.+|fuzz.*|array(shuffle|partial.*|randomsample)|datetimetouuidv7|obfuscatequery
    |now|now64|nowinblock.*|today|yesterday|curdate|current.*|local(time|timestamp)|utc_?timestamp|(zookeeper.*)?uptime
    |rownumberin.*|running.*|neighbor|block(number|size|serializedsize)|lowcardinality(keys|indices)|isconstant
    |indexhint|tocolumntypename|dumpcolumnstructure|__.*
    |transaction.*|connection_?id|query_?id|initial_?query.*|shard(num|count)
    |hostname|fullhostname|fqdn|displayname|tcpport|getsetting.*|getmacro|getserver.*|getmergetreesetting
    |getclienthttpheader|getoskernelversion|filesystem.*|file|hascolumnintable|timezone|servertimezone|serveruuid
    |version|revision|buildid|user|(auth|authenticated|session_)user|(enabled|default)(roles|profiles)|database|schema
    |showcertificate|timeseries.*|ai(classify|extract|filter|generate|redact|translate)|pg_?get_?userbyid|chdb
  {%- endset -%}
  {%- set pattern = modules.re.sub('\\s', '', unstable) -%}
  {%- set virtual = versioned_collapsing.get_virtual_columns() -%}
  {%- set ids = {} -%}
  {%- set problems = [] -%}
  {%- for node in tree if node.kind == 'TABLE' -%}{%- do ids.update({node.id: node.name}) -%}{%- endfor -%}
  {%- for node in tree -%}
    {%- if node.kind == 'FUNCTION' and modules.re.fullmatch(pattern, node.name | lower) -%}
      {%- do problems.append(
          "The function " ~ node.name ~ " returns another value in the next run, so the view's sums would become "
          ~ "wrong. Leave it out. Filter by time when you read the view, with the day or month among its groups."
      ) -%}
    {%- elif node.kind == 'COLUMN' and node.source in ids and node.name in virtual -%}
      {%- do problems.append(
          "The column " ~ node.name ~ " of " ~ ids[node.source] ~ " says where ClickHouse keeps a row, and merges "
          ~ "change that. Use a column of your own."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
