"""A table of many columns, each of which is cast, checked and combined."""

from __future__ import annotations

import re
from typing import Any

from tests.support.collapsing_projects import MakeProject
from tests.support.statements import Send, intercepted

NAMES = [f"a_column_number_{at:04d}" for at in range(600)]


def test_six_hundred_columns(make_project: MakeProject) -> None:
    """Where a proxy keeps no session, the profile allows statements as long as these."""
    project = make_project("wide")
    columns = ", ".join(f"toNullable('{{{{ var('x') }}}}') as {name}" for name in NAMES)
    config = {"unique_key": "id", "combine": dict.fromkeys(NAMES, "greatest")}
    project.add_model("target", config, f"select 1 as id, {columns}, {{{{ var('version') }}}} as _version")
    project.declare("target", dict.fromkeys(NAMES, "Nullable(Int64)"))
    assert project.run("--vars", "{x: 5, version: 1}")["target"].message == "1 row: 1 state"
    limits: dict[str, str] = {}

    def forget(send: Send, sql: str) -> Any:
        if "set max_query_size" not in sql:
            return send(sql)
        limits.update(re.findall(r"(\w+) = (\d+)", sql))
        return send("select 1")

    with intercepted(forget):
        assert "Max query size exceeded" in project.run("--vars", "{x: 3, version: 2}")["target"].message
        project.set_profile(custom_settings=limits)
        assert project.run("--vars", "{x: 3, version: 2}")["target"].message == "1 row: 1 state, 1 cancel"
    assert project.query(f"select {NAMES[0]}, {NAMES[-1]} from target final where _sign = 1") == [(5, 5)]
