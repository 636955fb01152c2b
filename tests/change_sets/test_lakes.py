"""Change sets of lake tables on a Spark without Delta and Iceberg; `make formats` tests with them."""

from __future__ import annotations

from pathlib import Path

from tests.support.lake_project import Lake, LakeProject


def test_without_the_format_the_change_set_says_what_is_missing(tmp_path: Path) -> None:
    lake = Lake("delta", "", "", {}, "")
    project = LakeProject(
        tmp_path,
        lake,
        {
            "plain_now": ("'plain', key=['id']", {}),
            "signed_now": ("'plain', key=['id'], version='status'", {"old_state": "stream"}),
            "absent_now": ("'absent', key=['id']", {}),
        },
    )
    project.commit("create schema if not exists shop", lake.create("shop.plain").replace("delta", "parquet"))
    run = project.run()
    outcome = project.go()[run]
    failures = outcome.failures()
    assert (
        "shop.plain is a table of the format parquet; the macro takes a table of Delta. Create it with "
        "file_format: delta. Spark needs the jars and settings of Delta: see the hand-off in the adapter's "
        "README."
    ) in failures["plain_now_changes"]
    assert "version: status is string, but a version must be" in failures["signed_now_changes"]
    assert "shop.absent does not exist, or Spark cannot read it." in failures["absent_now_changes"]
    assert len(failures) == 6
