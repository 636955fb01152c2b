{# What makes the rows of a change set from the batches that are taken. Where none is, SQL is not run at all, and a
   Python model finds its inputs empty. #}
{% macro get_change_set_code(code, language, inputs, taken) %}
  {%- if language == 'python' -%}
    {%- do return(code ~ versioned_collapsing._get_inputs_of_batches(taken)) -%}
  {%- endif -%}
  {%- set sql = versioned_collapsing.get_code_on_parsed_lines(code, inputs) -%}
  {%- do return(sql if taken else versioned_collapsing.get_no_rows_sql(sql)) -%}
{% endmacro %}


{# What a Python model reads is cut to the batches that are taken, where it says which batch a row is of. #}
{% macro _get_inputs_of_batches(taken) %}


class dbtObj(dbtObj):
    def __init__(self, load):
        def load_batches(name):
            rows = load(name)
            if "_batch" not in rows.columns:
                return rows
            return rows.where("{{ '_batch in (' ~ taken | join(', ') ~ ')' if taken else 'false' }}")

        super().__init__(load_batches)


{% endmacro %}
