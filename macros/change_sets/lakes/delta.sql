{# The commits of a Delta table that its log still has, by version. `hash` distinguishes a commit from that of another
   table with the same name; `follows` is the hash of the commit before. #}
{% macro read_delta_commits(lake) %}
  {%- set table = run_query('describe detail ' ~ lake.relation).rows[0] -%}
  {%- do versioned_collapsing.validate_delta_feed(lake, table['properties'] | string) -%}
  {%- set commits = {} -%}
  {%- for row in run_query('describe history ' ~ lake.relation).rows | sort(attribute='version') -%}
    {%- set number = row['version'] | int -%}
    {%- do commits.update({number: {
        'files': 1,
        'landed_at': "unix_micros(timestamp'" ~ row['timestamp'] ~ "')",
        'locations': [],
        'hash': table['id'] ~ ':' ~ number,
        'follows': table['id'] ~ ':' ~ (number - 1),
        'lake_version': number,
    }}) -%}
  {%- endfor -%}
  {%- do return(commits) -%}
{% endmacro %}

{% macro validate_delta_feed(lake, properties) %}
  {%- if not modules.re.search("delta.enableChangeDataFeed\\W+true", properties) -%}
    {%- do exceptions.raise_compiler_error(
        lake.relation ~ " has no change data feed, so its changes are unknown. Enable it: alter table "
        ~ lake.relation ~ " set tblproperties (delta.enableChangeDataFeed = true). Commits before that are not in the "
        ~ "feed: tables that have applied some of them need a full refresh, which begins with the table as it is."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The changes of the commits that a run takes. The feed is read for the range of these commits, which may include
   others. #}
{% macro get_delta_feed_sql(lake, columns, pending) -%}
  select
    {{ get_quoted_csv(columns) }},
    _commit_version as _batch,
    _change_type in ('insert', 'update_postimage') as _is_after,
    false as _is_truncate
  from table_changes('{{ lake.relation }}', {{ pending[0] }}, {{ pending[-1] }})
  where _commit_version in ({{ pending | join(', ') }})
{%- endmacro %}
