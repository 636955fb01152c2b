select value as line, _metadata.file_name as file from {{ source('landing', 'lines') }}
