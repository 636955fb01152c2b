{{ config(unique_key=['source_table', 'batch', 'file', 'line_number']) }}

select * from {{ ref('cdc_quarantine_changes') }}
