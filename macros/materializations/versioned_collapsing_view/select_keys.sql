{# Whether a function is a cast that changes no value, so that the cast of a sum is the sum of the casts. The new number
   type must hold all numbers of the old one. A float, for example, does not hold all integers of 64 bits. #}
{% macro _is_exact_cast(given_type, node) %}
  {%- set cast = '_?CAST|accurateCast|toNullable|toLowCardinality|to(U?Int|Decimal|Float)\\d+' -%}
  {%- if not modules.re.fullmatch(cast, node.name) -%}{%- do return(false) -%}{%- endif -%}
  {%- set given = versioned_collapsing._get_number(given_type) -%}
  {%- set wanted = versioned_collapsing._get_number(node.type) -%}
  {%- set keeps_null = versioned_collapsing.is_nullable_type(node.type)
      or not versioned_collapsing.is_nullable_type(given_type) -%}
  {%- do return(
      keeps_null and given is not none and wanted is not none and wanted.kind in given.fit
      and wanted.whole >= given.whole + (1 if given.kind == 'UInt' and wanted.kind == 'Int' else 0)
      and wanted.fraction >= given.fraction
  ) -%}
{% endmacro %}

{# What a number type holds: its digits before and after the point, and the kinds of numbers to which it can be cast.
   Integers and floats are measured in bits. None for a type that is no number type. #}
{% macro _get_number(type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- set decimal = modules.re.fullmatch('Decimal\\((\\d+), (\\d+)\\)', base) -%}
  {%- set other = modules.re.fullmatch('(U?Int|Float)(\\d+)', base) -%}
  {%- if decimal -%}
    {%- set digits, scale = decimal[1] | int, decimal[2] | int -%}
    {%- do return({'kind': 'Decimal', 'fit': ['Decimal'], 'whole': digits - scale, 'fraction': scale}) -%}
  {%- elif other -%}
    {%- set kind = other[1] -%}
    {%- set fit = {'UInt': ['UInt', 'Int'], 'Int': ['Int'], 'Float': ['Float']}[kind] -%}
    {%- do return({'kind': kind, 'fit': fit, 'whole': other[2] | int, 'fraction': 0}) -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}

{# Whether a node is the constant 0, or null, which adds nothing to a sum either. #}
{% macro _is_zero(node) %}
  {%- do return(
      node.kind == 'CONSTANT' and modules.re.fullmatch('NULL|(?:[A-Z]\\w*_)?-?0(?:[.]0*)?', node.name) is not none
  ) -%}
{% endmacro %}

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

{# Each expression of `group by` must be a column of the view, or an element of a column that is a tuple. Otherwise
   several groups would look the same in the view. ClickHouse reads `group by tuple(a, b)` as `group by a, b`. #}
{% macro _get_group_problems(tree, shape, outputs) %}
  {%- set known = [] -%}
  {%- for output in outputs -%}
    {%- set elements = tree[output.at].children.get('ARGUMENTS', []) if tree[output.at].name == 'tuple' else [] -%}
    {%- for at in [output.at] + elements -%}
      {%- do known.append(versioned_collapsing._get_expression_identity(tree, at)) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- set problems = [] -%}
  {%- for at in tree[shape.aggregators[0]].children.get('GROUP BY', []) if tree[at].kind != 'CONSTANT'
      and versioned_collapsing._get_expression_identity(tree, at) not in known -%}
    {%- set text = versioned_collapsing._get_expression_text(tree, at) -%}
    {%- do problems.append(
        "The select groups by " ~ text ~ ", which is no column of the view. Select it, and name it in order_by."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# A SummingMergeTree adds up the rows that are equal in `order_by`. If a key is not in `order_by`, the engine keeps any
   of its values, or adds them up. If a sum is in `order_by` or `partition_by`, the engine does not add it up.
   Expressions over keys may be in both: they are equal in rows with equal keys. #}
{% macro _get_key_problems(outputs, order_by, partition_by) %}
  {%- set keys = outputs | rejectattr('kind', 'in', ('sum', 'mixed')) | map(attribute='name') | list -%}
  {%- set sums = outputs | selectattr('kind', 'in', ('sum', 'mixed')) | map(attribute='name') | list -%}
  {%- set ordered = versioned_collapsing._get_plain_entries(order_by) -%}
  {%- set problems = [] -%}
  {%- for name in keys if name not in ordered -%}
    {%- do problems.append(
        "order_by lacks " ~ name ~ ", which is not a sum. ClickHouse adds up the rows that are equal in order_by, and "
        ~ "keeps one value of " ~ name ~ ". Add " ~ name ~ " to order_by, or leave the column out of the select."
    ) -%}
  {%- endfor -%}
  {%- for output in outputs if output.name in keys -%}
    {%- do problems.extend(versioned_collapsing.get_key_type_problems(output.name, output.type)) -%}
  {%- endfor -%}
  {%- for option, entries in {'order_by': order_by, 'partition_by': partition_by}.items() -%}
    {%- for name in versioned_collapsing._get_names_in(entries) if name in sums -%}
      {%- do problems.append(
          option ~ " has " ~ name ~ ", which is a sum. ClickHouse would not add up rows of a group that differ in it. "
          ~ "Leave it out of " ~ option ~ "."
      ) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The entries of an option, cut at their commas, and names without their quotes. #}
{% macro _get_plain_entries(entries) %}
  {%- set plain = [] -%}
  {%- for entry in entries -%}
    {%- set text = versioned_collapsing.strip_parentheses(entry | string | trim) -%}
    {%- for part in versioned_collapsing.split_top_level(text) -%}
      {%- set quoted = modules.re.fullmatch('([`"])(.*)\\1', part) -%}
      {%- do plain.append(quoted[2] if quoted else part) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(plain) -%}
{% endmacro %}

{# All names in the expressions of an option, except the names of functions. #}
{% macro _get_names_in(entries) %}
  {%- set names = [] -%}
  {%- for entry in entries -%}
    {%- set text = modules.re.sub("'(?:[^'\\\\]|\\\\.)*'", '', entry | string) -%}
    {%- for quoted, plain in modules.re.findall('[`"]([^`"]+)[`"]|(\\w+)(?!\\w*\\s*\\()', text) -%}
      {%- do names.append(quoted or plain) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(names) -%}
{% endmacro %}
