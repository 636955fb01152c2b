{# With `old_state: stream` or `delete_version: ignore`, a batch can be applied only once. So a batch that the table
   already has is refused. A snapshot of a whole lake table is refused if the table has applied any commit before: the
   snapshot has the rows of that commit too. #}
{% macro validate_batches_are_new(target_relation, options, manifest, ledger, apply) %}
  {%- set again = manifest.batches | map(attribute=0) | select('in', ledger.applied_batches) | list -%}
  {%- set begins_anew = manifest.is_lake_as_it_is and manifest.batches and ledger.applied_batches -%}
  {%- if (again or begins_anew) and (options.old_state == 'stream' or options.delete_version == 'ignore') -%}
    {%- set why = 'old_state: stream' if options.old_state == 'stream' else 'delete_version: ignore' -%}
    {%- do versioned_collapsing.stop_run(apply,
        target_relation ~ (
            " already contains " ~ ("batch " if again | length == 1 else "batches ") ~ again | sort | join(', ')
            ~ " of " ~ manifest.change_set if again
            else " has applied earlier commits, and " ~ manifest.change_set ~ " has all rows of the lake table"
        ) ~ ". With `" ~ why ~ "`, a batch can be applied "
        ~ "only once. Build the change set again, so that it leaves out applied batches: dbt run --select "
        ~ manifest.change_set ~ "+. To start over: dbt run --full-refresh --select " ~ manifest.change_set ~ "+"
    ) -%}
  {%- endif -%}
{% endmacro %}
