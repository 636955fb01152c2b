{# Under the locks of all sources: fills the view, or adds what has changed. Returns what was done. #}
{% macro bring_view_up_to_date(this, existing_relation, options, apply, sql, is_full_refresh) %}
  {%- do versioned_collapsing.acquire_source_locks(options.sources, apply) -%}
  {%- for source in options.sources -%}
    {%- do versioned_collapsing.recover_source(source, apply) -%}
  {%- endfor -%}
  {%- set state = versioned_collapsing.read_view_state(this, options) -%}
  {%- set described = versioned_collapsing.read_source_columns(options.sources) -%}
  {%- set is_new = is_full_refresh or not state.is_filled -%}
  {%- set lacking = [] if is_new else versioned_collapsing.read_lacking_feeds(options.sources, state, described) -%}
  {%- set is_altered = not is_new and versioned_collapsing._read_is_altered(this, sql) -%}
  {%- set rebalanced = [] if is_new else versioned_collapsing.read_rebalanced_sources(options.sources, state) -%}
  {%- if is_new or lacking or is_altered or rebalanced -%}
    {%- do versioned_collapsing.log_why_filled(this, lacking, is_altered, rebalanced) -%}
    {%- do versioned_collapsing.validate_no_other_writers(this) -%}
    {%- do versioned_collapsing.fill_view(this, existing_relation, options, state, described, apply, sql) -%}
    {%- set message = 'filled from ' ~ versioned_collapsing.get_source_names(options.sources) -%}
  {%- elif state.has_changes -%}
    {%- do versioned_collapsing.refresh_view(this, options, state, described, apply, sql) -%}
    {%- set message = 'added the changes of ' ~ versioned_collapsing.get_source_names(
        versioned_collapsing.get_changed_sources(options.sources, state)
    ) -%}
  {%- else -%}
    {%- set message = 'nothing has changed' -%}
  {%- endif -%}
  {%- do versioned_collapsing.give_up_source_locks(options.sources, apply) -%}
  {%- do return(message) -%}
{% endmacro %}

{# Whether the select has other types than the view. Then the columns of the view would round or cut values that are
   added. #}
{% macro _read_is_altered(this, sql) %}
  {%- set wanted = versioned_collapsing.read_types(versioned_collapsing.get_subquery_sql(sql)) -%}
  {%- do return(wanted != versioned_collapsing.read_types(this)) -%}
{% endmacro %}

{% macro log_why_filled(this, lacking, is_altered, rebalanced) %}
  {%- if lacking -%}
    {%- do log(
        this ~ (': the change feed of ' if lacking | length == 1 else ': the change feeds of ')
        ~ lacking | join(' and ') ~ (' does' if lacking | length == 1 else ' do')
        ~ ' not reach back to what this view has used. Filling the view again', info=true
    ) -%}
  {%- elif is_altered -%}
    {%- do log(this ~ ': columns of its tables have other types now. Filling the view again', info=true) -%}
  {%- elif rebalanced -%}
    {%- do log(
        this ~ ': keys of ' ~ rebalanced | join(' and ') ~ ' may have been rebalanced that others had written. Filling '
        ~ 'the view again', info=true
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro get_source_names(sources) %}
  {%- do return(sources | map(attribute='relation.identifier') | join(' and ')) -%}
{% endmacro %}

{# Whether the feed of a source has an apply that its ledger lacks. While a run holds the lock, such an apply does not
   count: it may be the one that the run is writing. #}
{% macro read_has_unknown_applies(sources, state) %}
  {%- for source in sources -%}
    {%- set lock = versioned_collapsing.get_helper_relation(source.relation, 'lock') -%}
    {%- if versioned_collapsing.read_last_fed_apply(source.relation) > state.last[source.position]
        and versioned_collapsing.read_lock(lock) is none -%}
      {%- do return(true) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(false) -%}
{% endmacro %}
