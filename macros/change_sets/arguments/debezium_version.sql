{# What orders the changes of a row: by default the commits of the source, as the connector of the line sends them, or a
   position by name, or one of the row's own columns. #}
{% macro get_debezium_version_option_problems(columns, version, servers, epochs=[]) %}
  {%- set names = versioned_collapsing.get_debezium_orders().names -%}
  {%- set lists = {'servers': servers, 'epochs': epochs} -%}
  {%- set problems = versioned_collapsing.get_list_problems(lists, ['servers', 'epochs']) -%}
  {%- if problems -%}
    {%- do return(problems) -%}
  {%- endif -%}
  {%- if epochs | reject('integer') | list or epochs | map('string') | unique | list | length < epochs | length
      or epochs | length > 255 or epochs | sort != epochs -%}
    {%- do problems.append(
        "epochs is " ~ epochs ~ "; it takes at most 255 numbers of batches in growing order: each is the first batch "
        ~ "of a new epoch."
    ) -%}
  {%- elif epochs and version is not none and version not in names -%}
    {%- do problems.append(
        "epochs is " ~ epochs ~ ", but the version is the column " ~ version ~ ". Only positions have epochs: remove "
        ~ "it."
    ) -%}
  {%- endif -%}
  {%- if version == 'source.lsn' -%}
    {%- do problems.append(
        "version is 'source.lsn', the place of a row in PostgreSQL's log. Transactions commit in another order, so "
        ~ "rows of racing transactions would be lost. Leave version out: the order of commits is in source.sequence. "
        ~ "Only if your events lack that, set version='source.lsn_despite_races'."
    ) -%}
  {%- elif version == 'source.gtid' and not servers -%}
    {%- do problems.append(
        "servers is empty. Transactions of different servers have no common order. With version 'source.gtid', list "
        ~ "the UUIDs of the servers in the order in which they were the primary."
    ) -%}
  {%- elif version is not none and version not in names and version not in columns -%}
    {%- do problems.append(
        "version is '" ~ version ~ "'; it takes '" ~ names | join("', '") ~ "' or one of columns. Leave it out to take "
        ~ "the order of commits that the connector sends."
    ) -%}
  {%- elif version is not none and version not in names -%}
    {%- do problems.extend(versioned_collapsing.get_version_column_problems(columns, version)) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro warn_of_races(model, version) %}
  {%- if execute and version == 'source.lsn_despite_races' -%}
    {%- do exceptions.warn(
        model.unique_id ~ ": version is 'source.lsn_despite_races'. Events without source.sequence are ordered by "
        ~ "their place in PostgreSQL's log and not by commits. Where transactions race for a key, or are open while a "
        ~ "snapshot is taken, rows can stay wrong."
    ) -%}
  {%- endif -%}
{% endmacro %}
