{% macro engine() %}{{ return(adapter.dispatch('engine', 'tool')()) }}{% endmacro %}

{% macro default__engine() %}{{ return('neither') }}{% endmacro %}

{% macro spark__engine() %}{{ return('spark') }}{% endmacro %}

{% macro clickhouse__engine() %}{{ return('clickhouse') }}{% endmacro %}
