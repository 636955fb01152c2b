{# How far a view is, by the position of each source. `last`: the last apply to the source. `used`: the last apply that
   the view has used. `is_filled`: whether the view was filled with this select, from the tables that now have the
   sources' names. #}
{% macro read_view_state(this, options) %}
  {%- set rows = run_query(versioned_collapsing.get_view_state_sql(this, options)).rows -%}
  {%- set state = {'last': {}, 'used': {}} -%}
  {%- set seen = namespace(is_filled=true) -%}
  {%- for row in rows -%}
    {%- do state.last.update({row['source'] | int: row['last'] | int}) -%}
    {%- do state.used.update({row['source'] | int: row['used'] | int}) -%}
    {%- set seen.is_filled = seen.is_filled and row['fills'] | int > 0 -%}
  {%- endfor -%}
  {%- do return(dict(
      state, is_filled=seen.is_filled,
      has_changes=versioned_collapsing.get_changed_sources(options.sources, state) != []
  )) -%}
{% endmacro %}

{% macro get_view_state_sql(this, options) -%}
  {%- for source in options.sources %}
  {{ versioned_collapsing.get_view_status_sql(source.relation, this, options.definition, loop.index0) }}
  {{- '\n\n  union all\n' if not loop.last }}
  {%- endfor %}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# The last apply to a source, and the last one that the view has used. Only ledger rows with the UUID of the table in
   the view's place count: a table that was being made when its run died has another UUID. #}
{% macro get_view_status_sql(table, view_relation, definition=none, position=0) -%}
  {%- set uuid = versioned_collapsing.get_table_uuid_sql(table) %}
  {%- set is_of_view -%}
    status = 'filled'
      and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(view_relation) }}
      and source_uuid = {{ uuid }}
      {%- if definition %}
      and definition = {{ versioned_collapsing.quote_literal(definition) }}
      {%- endif %}
  {%- endset -%}
  select
    {{ position }} as source,
    maxIf(apply, target_uuid = {{ uuid }}) as last,
    countIf({{ is_of_view }}) as fills,
    maxIf(apply, {{ is_of_view }}) as used
  from {{ versioned_collapsing.get_ledger_relation(table) }}
{%- endmacro %}

{% macro get_changed_sources(sources, state) %}
  {%- set changed = [] -%}
  {%- for source in sources if state.last[source.position] > state.used[source.position] -%}
    {%- do changed.append(source) -%}
  {%- endfor -%}
  {%- do return(changed) -%}
{% endmacro %}

{# The columns of each source and of its feed. #}
{% macro read_source_columns(sources) %}
  {%- set described = [] -%}
  {%- for source in sources -%}
    {%- do described.append(versioned_collapsing.read_feed_columns(
        source.relation, versioned_collapsing.get_feed_relation(source.relation)
    )) -%}
  {%- endfor -%}
  {%- do return(described) -%}
{% endmacro %}

{# The names of the sources whose feed is gone, or lacks an apply that the view has not used. With `are_kept=false`,
   only sources whose feed loses rows with time are checked. #}
{% macro read_lacking_feeds(sources, state, described, are_kept=true) %}
  {%- set lacking = [] -%}
  {%- for source in versioned_collapsing.get_changed_sources(sources, state)
      if are_kept or versioned_collapsing.get_change_feed(source.relation, source.options, source.node).interval -%}
    {%- set at = source.position -%}
    {%- if not described[at].feed -%}
      {%- do lacking.append(source.name) -%}
    {%- elif versioned_collapsing.read_missing_apply_count(source, state.used[at], state.last[at]) -%}
      {%- do lacking.append(source.name) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(lacking) -%}
{% endmacro %}

{% macro read_missing_apply_count(source, used, last) %}
  {%- set applies = versioned_collapsing.get_applies_sql({
      'ledger': versioned_collapsing.get_ledger_relation(source.relation),
      'uuid': versioned_collapsing.get_table_uuid_sql(source.relation),
      'feed': versioned_collapsing.get_feed_relation(source.relation),
  }, used + 1) -%}
  {%- do return(versioned_collapsing.read_row_count(
      versioned_collapsing.get_subquery_sql(applies), 'not is_complete and apply <= ' ~ last
  )) -%}
{% endmacro %}

{# The names of the sources in which an apply that the view has not used may have rebalanced keys. If another writer
   wrote rows, the feed only has the rows that cancel them. Nobody knows whether a restored apply rebalanced keys. #}
{% macro read_rebalanced_sources(sources, state) %}
  {%- set rebalanced = [] -%}
  {%- for source in versioned_collapsing.get_changed_sources(sources, state) -%}
    {%- set condition -%}
      target_uuid = {{ versioned_collapsing.get_table_uuid_sql(source.relation) }}
        and apply between {{ state.used[source.position] + 1 }} and {{ state.last[source.position] }}
        and (rebalanced > 0 or status = 'restored')
    {%- endset -%}
    {%- if versioned_collapsing.read_row_count(
        versioned_collapsing.get_ledger_relation(source.relation), condition
    ) -%}
      {%- do rebalanced.append(source.name) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(rebalanced) -%}
{% endmacro %}
