{# The code that makes the rows of a change set from the batches that are taken. If no batch is taken, SQL returns no
   rows, and a Python model finds its inputs empty. #}
{% macro get_change_set_code(code, language, inputs, taken, snapshots={}) %}
  {%- if language == 'python' -%}
    {%- do return(code ~ versioned_collapsing._get_inputs_of_batches(taken)) -%}
  {%- endif -%}
  {%- set sql = versioned_collapsing.get_code_after_snapshots(
      versioned_collapsing.get_code_on_parsed_lines(code, inputs), snapshots
  ) -%}
  {%- do return(sql if taken else versioned_collapsing.get_no_rows_sql(sql)) -%}
{% endmacro %}


{# Cuts the inputs of a Python model to the batches that are taken, if they have the column `_batch`. #}
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
