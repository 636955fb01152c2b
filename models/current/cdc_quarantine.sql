{{ config(unique_key=['source_table', 'batch', 'file', 'line_number']) }}

{{ replace_quarantined_batches(ref('cdc_quarantine_changes')) }}
