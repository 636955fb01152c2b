{# Prints the figures, and which way to take. #}
{% macro log_figures(sample, counts, figures, is_followed) %}
  {%- set shown = [] -%}
  {%- for row in figures -%}
    {%- do shown.append({
        'way': row.way,
        'write': '%.3f' % row.write,
        'write with a view': '%.3f' % row.with_view,
        'read one key': '%.3f' % row.key,
        'read sums': '%.3f' % row.sums,
        'a view of sums is right': 'yes' if row.is_view_right else 'no',
    }) -%}
  {%- endfor -%}
  {%- set summed = sample.summed.name if sample.summed else 'the number of rows' -%}
  {%- do log(
      sample.table ~ ': ' ~ versioned_collapsing.format_count(counts.stored, 'row') ~ ' of ' ~ sample.total ~ ', and '
      ~ versioned_collapsing.format_count(counts.changes, 'change') ~ ' (' ~ counts.inserts ~ ' new, ' ~ counts.updates
      ~ ' updated, ' ~ counts.deletes ~ ' deleted)'
      ~ ('' if sample.changes else ', made up: give your own as changes')
      ~ '. Sums of ' ~ summed ~ (' by ' ~ sample.group if sample.group else '') ~ '. Seconds, medians of '
      ~ sample.trials ~ ':', info=true
  ) -%}
  {%- do versioned_collapsing.log_table({'column_names': shown[0].keys() | list, 'rows': shown}) -%}
  {%- for line in versioned_collapsing.get_advice(sample, counts, figures, is_followed) -%}
    {%- do log(line, info=true) -%}
  {%- endfor -%}
{% endmacro %}


{# Which way to take, and why. It first looks at how much of the table changes, and whether views follow it. Then it
   compares the time of a write and of the reads of sums after it. #}
{% macro get_advice(sample, counts, figures, is_followed) %}
  {%- set by_kind = {} -%}
  {%- for row in figures -%}{%- do by_kind.update({row.kind: row}) -%}{%- endfor -%}
  {%- set is_new = counts.updates + counts.deletes == 0 -%}
  {%- if is_new -%}
    {%- do return(['Take MergeTree: no change is of a row that is there. Nothing needs to be replaced.']) -%}
  {%- elif is_followed -%}
    {%- do return(['Take versioned_collapsing: views follow the table, and views of the other ways go wrong ('
        ~ versioned_collapsing._get_list_of_wrong_views(figures) ~ '). If the views may lag behind, ReplacingMergeTree '
        ~ 'with a refreshable view that reads it with FINAL is simpler.']) -%}
  {%- elif (counts.updates + counts.deletes) * 2 > counts.stored -%}
    {%- do return(['Take a copy (materialized: table, or incremental with the default strategy): more than half of the '
        ~ 'rows change at a time. If they do not change in each run, give changes of one run.']) -%}
  {%- endif -%}
  {%- set totals = [] -%}
  {%- for row in figures if row.kind != 'plain' -%}
    {%- do totals.append({'kind': row.kind, 'way': row.way, 'seconds': row.write + sample.reads * row.sums}) -%}
  {%- endfor -%}
  {%- set best = (totals | sort(attribute='seconds'))[0] -%}
  {%- set lines = [] -%}
  {%- for total in totals | sort(attribute='seconds') -%}
    {%- do lines.append(total.way ~ ' ' ~ '%.3f' % total.seconds) -%}
  {%- endfor -%}
  {%- do return([
      'Take ' ~ best.way ~ ': nothing follows the table, and a write with ' ~ sample.reads ~ ' reads of sums takes the '
      ~ 'fewest seconds (' ~ lines | join(', ') ~ ').' ~ versioned_collapsing._get_limits(best.kind),
      versioned_collapsing._get_turning_point(by_kind.replacing, by_kind.ours),
      'As soon as a materialized view or a projection sums the table, take versioned_collapsing.',
  ]) -%}
{% endmacro %}


{% macro _get_list_of_wrong_views(figures) %}
  {%- do return(figures | rejectattr('is_view_right') | map(attribute='way') | join(', ')) -%}
{% endmacro %}


{# What a way requires of those who take it. #}
{% macro _get_limits(kind) %}
  {%- do return({
      'replacing': ' Every reader needs FINAL, and the version must not be in ORDER BY.',
      'update': ' Updates, inserts and deletes are statements of their own, so that readers see one before the other, '
          ~ 'and each leaves work to later reads and merges.',
      'ours': ' Every reader multiplies by the sign, or reads with FINAL.',
  }[kind]) -%}
{% endmacro %}


{# From how many reads of sums for each write the sums by sign are worth the look-up of that write. #}
{% macro _get_turning_point(replacing, ours) %}
  {%- if ours.sums >= replacing.sums -%}
    {%- do return('Sums by sign take no less than sums with FINAL on this sample: versioned_collapsing pays only for '
        ~ 'views.') -%}
  {%- endif -%}
  {%- set reads = ((ours.write - replacing.write) / (replacing.sums - ours.sums)) | round(0, 'ceil') | int -%}
  {%- do return('versioned_collapsing takes less than ReplacingMergeTree from ' ~ [reads, 1] | max
      ~ ' reads of sums for each write.') -%}
{% endmacro %}
