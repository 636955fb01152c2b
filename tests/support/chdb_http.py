"""A ClickHouse HTTP endpoint on top of chDB, for tests that need a real engine but no server.

chDB is the ClickHouse engine as a Python package. Only one process at a time can open a data directory with it. This
module serves the part of ClickHouse's HTTP interface that clickhouse-connect uses (and so dbt-clickhouse with
``driver: http``) from one engine, so that several processes share it and the code under test runs unchanged.

Run it as ``python -m tests.support.chdb_http --path DIR --port 0 --port-file FILE`` or, in a test, with
:func:`running_server`. It binds 127.0.0.1 only. A result is complete before its first byte is sent, so an error always
has its own HTTP status and never cuts off a body.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import json
import logging
import os
import re
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import lz4.frame  # type: ignore[import-untyped]
from backports import zstd

HOST = "127.0.0.1"
MAX_SESSIONS = 256  # At about 0.1 MB each; the least recently used idle session is closed first.
STATEMENTS = "statements.log"  # In the data directory, in case the engine crashes.
# Where chDB's defaults, being embedded, differ from a server's default profile.
SERVER_PROFILE = "implicit_select=0&allow_introspection_functions=0&storage_file_read_method=pread"
# URL parameters of the transport; any other parameter is a setting of the query.
TRANSPORT_PARAMETER = re.compile(
    "|buffer_size|client_protocol_version|close_session|database|default_format|param_.*|password"
    "|enable_http_compression|http_headers_progress_interval_ms|query|query_id|quota_key|readonly"
    "|role|send_progress_in_http_headers|session_(check|id|timeout)|stacktrace|user"
    "|wait_end_of_query"
)
RESULT_KEYWORDS = frozenset(b"( CHECK DESC DESCRIBE EXISTS EXPLAIN FROM SELECT SHOW WITH".split())
HTTP_STATUS = {
    **dict.fromkeys((6, 26, 27, 36, 38, 41, 43, 53, 62, 69, 70, 72, 117, 130, 131, 190), 400),
    **dict.fromkeys((46, 47, 50, 56, 60, 73, 78, 81, 115), 404),
    **dict.fromkeys((516,), 403),
    **dict.fromkeys((48,), 501),
}
# The compressions that clickhouse-connect uses, in the server's order of preference.
ENCODERS: Mapping[str, Callable[[Any], bytes]] = {"zstd": zstd.compress, "lz4": lz4.frame.compress}
DECODERS: Mapping[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    "zstd": zstd.decompress,
    # Not lz4.frame.decompress: it stops after one frame, and an insert has one per block.
    "lz4": lambda data: bytes(lz4.frame.open(io.BytesIO(data)).read()),
}

_LOG = logging.getLogger("chdb_http")
_FIRST_WORD = re.compile(rb"(?:\s|--[^\n]*|#[ !][^\n]*|/\*.*?\*/)*([A-Za-z]+|.?)", re.DOTALL)
_LAST_FORMAT = re.compile(rb"\bFORMAT\s+(\w+)\s*(?:SETTINGS\s[^()]*)?[;\s]*$", re.IGNORECASE)
_TOKENS = re.compile(
    rb"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`\\]|\\.)*` | \$(\w*)\$.*?\$\1\$
    | --[^\n]* | \#[ !][^\n]* | /\*.*?\*/ | (?P<end>;)
    | \b(?P<word>SELECT|WITH|(?:FORMAT\s+)?VALUES)\b
    | \bFORMAT\s+(?P<format>\w+)[ \t\f]*\r?\n?""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_ENGINE_ERROR = re.compile(
    r"(?:Streaming [a-z ]+: )?Code: (\d+)\. DB::\w*Exception: (.*?)\s*\((\w+)\)"
    r"(?: \(version [^)]*\)\.?)?",
    re.DOTALL,
)


class ClickHouseError(Exception):
    """An error as the server reports it: ``Code: N. DB::Exception: message (NAME)``."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(f"Code: {code}. DB::Exception: {message} ({name})")
        self.code = code

    @classmethod
    def from_engine(cls, error: Exception) -> ClickHouseError:
        """Unpack an exception of chDB, which may be the same error wrapped several times."""
        code, message, name = "1002", str(error), "UNKNOWN_EXCEPTION"
        while match := _ENGINE_ERROR.fullmatch(message):
            code, message, name = match.groups()
        return cls(int(code), name, message)


class Insert(NamedTuple):
    """Data for a table: a statement without its FORMAT clause, the format and the data."""

    statement: bytes
    data_format: str
    data: bytes


class Request(NamedTuple):
    """One query as the client sent it. An empty ``database`` means the session's own."""

    sql: bytes
    settings: dict[str, str]
    parameters: dict[str, str]
    database: str
    output_format: str


class Outcome(NamedTuple):
    """A result. The body is memory of ``owner``, and valid as long as that is referenced."""

    counters: Mapping[str, int]  # Rows, bytes, and elapsed time in ns.
    body: bytes | memoryview = b""
    owner: Any = None


def first_word(sql: bytes, start: int = 0) -> bytes:
    """Return the first word after blanks and comments, in capitals; or else one character."""
    match = _FIRST_WORD.match(sql, start)
    return match[1].upper() if match else b""


def insert_in(sql: bytes) -> Insert | None:
    """Split an INSERT with FORMAT and data into its parts; return None for any other statement.

    Raises ClickHouseError 62 for no statement or several: chDB would run those, but a server does not.
    """
    if first_word(sql) in (b"", b";"):
        raise ClickHouseError(62, "SYNTAX_ERROR", "Syntax error: Empty query.")
    may_have_data = first_word(sql) == b"INSERT"
    for token in _TOKENS.finditer(sql):
        if token["end"] and first_word(sql, token.end()) not in (b"", b";"):
            message = f"Syntax error (Multi-statements are not allowed): at {token.start() + 1}."
            raise ClickHouseError(62, "SYNTAX_ERROR", message)
        if may_have_data and token["format"]:
            return Insert(sql[: token.start()], token["format"].decode(), sql[token.end() :])
        if may_have_data and token["word"]:
            may_have_data = False
            if token["word"].upper().endswith(b"VALUES"):
                break  # The rest is data, which the engine finds in the statement by itself.
    return None


class Session:
    """One engine handle: a current database, settings and temporary tables."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self.lock = threading.Lock()
        self.timezone = "UTC"
        self._handle = connect()
        self._database = self._bound_database = "default"
        self._request_settings: dict[str, str] = {}
        self._set_statements: dict[bytes, None] = {}  # Those of the session itself, in order.

    def execute(self, request: Request) -> Outcome:
        """Run a request, whose settings and database apply to it only.

        A SET changes the session and runs without them. Raises ClickHouseError for any failure.
        """
        keyword, insert = first_word(request.sql), insert_in(request.sql)
        text = (insert.statement if insert else request.sql)[:100_000].decode(errors="replace")
        _LOG.info("%s; -- in %s, settings %s", text, request.database, request.settings)
        self._bind_settings({} if keyword == b"SET" else request.settings)
        self._bind_database(request.database)
        if insert:
            return self._insert(insert)
        result = self.query(request.sql, request.output_format, request.parameters)
        if keyword == b"SET":
            self._set_statements.pop(request.sql, None)
            self._set_statements[request.sql] = None
            self.timezone = self.value("SELECT timezone()")
        elif keyword == b"USE":
            self._database = self._bound_database = self.value("SELECT currentDatabase()")
        counters = {
            "read_rows": result.storage_rows_read(),
            "read_bytes": result.storage_bytes_read(),
            "result_rows": result.rows_read(),
            "result_bytes": result.bytes_read(),
            "written_rows": result.rows_written(),
            "written_bytes": result.bytes_written(),
            "elapsed_ns": int(result.elapsed() * 1e9),
        }
        return Outcome(counters, result.get_memview().view() if result.size() else b"", result)

    def query(self, sql: bytes | str, output_format: str = "TabSeparated", parameters: Any = None) -> Any:
        """Run one statement as it is and return chDB's result."""
        with _engine_errors():
            return self._handle.query(sql, output_format, params=parameters or {})

    def value(self, sql: str) -> str:
        """Return the only value of the only row of a query."""
        return str(self.query(sql, "TabSeparatedRaw").bytes().decode().removesuffix("\n"))

    def close(self) -> None:
        """Release the handle, and with it the temporary tables."""
        self._handle.close()

    def _insert(self, insert: Insert) -> Outcome:
        # chDB would read an empty line in the query text as the end of the data.
        statement = insert.statement.decode()
        with _engine_errors(), self._handle.send_insert(statement, insert.data_format) as stream:
            stream.append(insert.data)
            done = stream.finish()
        written = {"written_rows": done.rows_written, "written_bytes": done.bytes_written}
        return Outcome({**written, "elapsed_ns": int(done.elapsed * 1e9)})

    def _bind_database(self, requested: str) -> None:
        database = requested or self._database
        if requested or database != self._bound_database:  # A requested database may be dropped by now.
            self._bound_database = ""
            self.query(f"USE {_quoted(database, '`')}")
            self._bound_database = database

    def _bind_settings(self, settings: dict[str, str]) -> None:
        if settings == self._request_settings:  # Usually true: clients repeat their settings.
            return
        self._unset(self._request_settings)
        self._request_settings = settings
        try:
            if settings:
                changes = (f"{_quoted(k, '`')} = {_quoted(v)}" for k, v in settings.items())
                self.query(f"SET {', '.join(changes)}")
        except ClickHouseError:
            self._unset(settings)
            self._request_settings = {}
            raise

    def _unset(self, settings: dict[str, str]) -> None:
        if settings:
            self.query(f"SET {', '.join(_quoted(name, '`') + ' = DEFAULT' for name in settings)}")
            for statement in self._set_statements:
                self.query(statement)


@contextlib.contextmanager
def _engine_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise ClickHouseError.from_engine(error) from error


def _quoted(text: str, quote: str = "'") -> str:
    return quote + text.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote


class ChdbServer(ThreadingHTTPServer):
    """The HTTP server, and this process's only owner of the engine.

    ``path`` is the data directory, ``port`` a TCP port or 0 for a free one. Only ``user`` with ``password`` gets in.
    The engine reads its time zone from ``TZ`` when this object is created.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: Path, port: int, user: str, password: str, config: str = "") -> None:
        import chdb  # Not earlier, because the import starts an engine.

        options = f"{SERVER_PROFILE}&config-file={config}" if config else SERVER_PROFILE
        self._connect: Callable[[], Any] = lambda: chdb.connect(f"{path}?{options}")
        keeper = self._keeper = Session(self._connect)  # The engine stops with its last handle.
        self.version = keeper.value("SELECT version()")
        self.credentials = (user, password)
        self._sessions: dict[str, Session] = {}  # The most recently used last.
        self._sessions_lock = threading.Lock()
        # Give the default database the engine that a server gives it: chDB's own is an overlay with files.
        if (path / "metadata" / "default").exists():  # As this code left it earlier, with tables.
            keeper.query("DETACH DATABASE default; ATTACH DATABASE default")
        elif keeper.value("SELECT count() FROM system.tables WHERE database = 'default'") == "0":
            keeper.query("DROP DATABASE default; CREATE DATABASE default ENGINE = Atomic")
        super().__init__((HOST, port), _Handler)

    def server_bind(self) -> None:
        """Bind, but without the DNS look-up of HTTPServer."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report errors on stderr, unless a client has merely disconnected."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @contextlib.contextmanager
    def session(self, session_id: str) -> Iterator[Session]:
        """Lend a session for one request; without an id, a new one that ends with the request.

        Raises ClickHouseError 373 if another request is using the session, as a server does.
        """
        if not session_id:
            with contextlib.closing(Session(self._connect)) as session:
                yield session
            return
        with self._sessions_lock:
            known = self._sessions.pop(session_id, None)
            session = self._sessions[session_id] = known or Session(self._connect)
            if not session.lock.acquire(blocking=False):
                message = f"Session {session_id} is locked by a concurrent client."
                raise ClickHouseError(373, "SESSION_IS_LOCKED", message)
            self._close_idle_sessions(keep=MAX_SESSIONS)
        try:
            yield session
        finally:
            session.lock.release()

    def server_close(self) -> None:
        """Stop listening, and stop the engine; a running query is cut off."""
        super().server_close()
        with self._sessions_lock:
            self._close_idle_sessions(keep=0)
        self._keeper.close()

    def _close_idle_sessions(self, keep: int) -> None:
        for session_id, session in list(self._sessions.items()):
            if len(self._sessions) > keep and session.lock.acquire(blocking=False):
                self._sessions.pop(session_id).close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ChdbServer

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self._read_body()  # Always, or the next request could not be read.
        url = urlsplit(self.path)
        fields = dict(parse_qsl(url.query, keep_blank_values=True, errors="surrogateescape"))
        query_id = fields.get("query_id") or str(uuid.uuid4())
        headers = {"X-ClickHouse-Server-Display-Name": "chdb", "X-ClickHouse-Query-Id": query_id}
        status, outcome = 200, Outcome({}, b"Ok.\n")
        try:
            if url.path == "/" and (body or fields):
                outcome = self._run(fields, body, headers)
            elif url.path not in ("/", "/ping", "/replicas_status"):
                status, outcome = 404, Outcome({}, b"There is no such handle.\n")
        except ClickHouseError as error:
            status = HTTP_STATUS.get(error.code, 500)
            text = f"{error} (version {self.server.version} (official build))\n"
            outcome = Outcome({}, text.encode())
            headers["X-ClickHouse-Exception-Code"] = str(error.code)
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(outcome.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(outcome.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: a client reports its own errors."""

    def _run(self, fields: dict[str, str], body: bytes, headers: dict[str, str]) -> Outcome:
        self._authenticate(fields)
        request = self._request(fields, self._decoded(body))
        keyword = first_word(request.sql)
        is_readonly = self.command == "GET" or fields.get("readonly", "0") != "0"
        if is_readonly and keyword not in RESULT_KEYWORDS | {b"SET", b"USE"}:
            message = "Cannot execute query in readonly mode, which method GET implies: use POST."
            raise ClickHouseError(164, "READONLY", message)
        with self.server.session(fields.get("session_id", "")) as session:
            outcome = session.execute(request)
            timezone = request.settings.get("session_timezone", session.timezone)
        # The client's next request may use the session while this one is still being answered.
        headers["X-ClickHouse-Timezone"] = timezone
        summary = {name: str(value) for name, value in outcome.counters.items()}
        headers["X-ClickHouse-Summary"] = json.dumps(summary)
        if outcome.body or keyword in RESULT_KEYWORDS:
            named = _LAST_FORMAT.search(request.sql[-500:])
            headers["X-ClickHouse-Format"] = named[1].decode() if named else request.output_format
        accepted = self.headers.get("Accept-Encoding", "")
        encoding = next((name for name in ENCODERS if name in accepted), "")
        if outcome.body and encoding and fields.get("enable_http_compression") == "1":
            headers["Content-Encoding"] = encoding
            return Outcome({}, ENCODERS[encoding](outcome.body))
        return outcome

    def _authenticate(self, fields: dict[str, str]) -> None:
        scheme, _, encoded = self.headers.get("Authorization", "").partition(" ")
        user = self.headers.get("X-ClickHouse-User") or fields.get("user", "default")
        password = self.headers.get("X-ClickHouse-Key") or fields.get("password", "")
        if scheme.lower() == "basic":
            user, _, password = base64.b64decode(encoded).decode(errors="replace").partition(":")
        if (user, password) != self.server.credentials:
            why = "password is incorrect, or there is no user with such name."
            message = f"{user}: Authentication failed: {why}"
            raise ClickHouseError(516, "AUTHENTICATION_FAILED", message)

    def _read_body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self._read_exactly(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            chunks.append(self._read_exactly(size))
            self._read_exactly(len(b"\r\n"))
        while self.rfile.readline().strip():
            pass  # Trailers
        return b"".join(chunks)

    def _read_exactly(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) < size:  # Half an insert must not be run.
            raise ConnectionError("the client has gone away within its request")
        return data

    def _decoded(self, body: bytes) -> bytes:
        encoding = self.headers.get("Content-Encoding", "")
        if encoding not in DECODERS:
            raise ClickHouseError(48, "NOT_IMPLEMENTED", f"Content-Encoding {encoding}.")
        try:
            return DECODERS[encoding](body)
        except (OSError, EOFError, RuntimeError, zstd.ZstdError) as error:
            raise ClickHouseError(354, "ZLIB_INFLATE_FAILED", f"{encoding}: {error}") from error

    def _request(self, fields: dict[str, str], body: bytes) -> Request:
        query = fields.get("query", "").encode(errors="surrogateescape")
        header = {k: str(self.headers.get(f"X-ClickHouse-{k}", "")) for k in ("Database", "Format")}
        return Request(
            sql=b"\n".join(filter(None, (query, body))),  # A server, too, treats them as one text.
            settings={k: v for k, v in fields.items() if not TRANSPORT_PARAMETER.fullmatch(k)},
            parameters={k[6:]: v for k, v in fields.items() if k.startswith("param_")},
            database=fields.get("database") or header["Database"],
            output_format=fields.get("default_format") or header["Format"] or "TabSeparated",
        )


@contextlib.contextmanager
def running_server(
    path: Path | str, *, user: str = "default", password: str = "", config: str = "", startup_seconds: float = 60.0
) -> Iterator[tuple[str, int]]:
    """Run the front on the data directory ``path`` in a subprocess and yield (host, port).

    ``config`` is the path of a ClickHouse configuration file.

    The front ends with the block, and also if this process dies. Raises RuntimeError if it does not answer within
    ``startup_seconds``, or if it ended before the block did; the latter with its last statements.
    """
    process, port = start_server(path, user, password, startup_seconds, config)
    try:
        yield HOST, port
        if process.poll() is not None:
            last = (Path(path) / STATEMENTS).read_text()[-20_000:]
            message = f"chDB front ended early, exit code {process.poll()}, after {last}"
            raise RuntimeError(message)
    finally:
        stop_server(process)


def start_server(
    path: Path | str, user: str = "default", password: str = "", startup_seconds: float = 60.0, config: str = ""
) -> tuple[subprocess.Popen[bytes], int]:
    """Start the front on the data directory ``path``. Return its process, which ends with this one, and its port.

    Raises RuntimeError if it does not answer within ``startup_seconds``.
    """
    with tempfile.TemporaryDirectory() as scratch:
        port_file = Path(scratch) / "port"
        command = [sys.executable, __file__, "--until-stdin-closes", "--path", str(path)]
        command += ["--port-file", str(port_file), "--user", user, "--password", password]
        command += ["--config", config]
        # Ctrl-C is for this process, which then ends that one: interrupting a query may crash the engine.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        deadline = time.monotonic() + startup_seconds
        while not _answers_ping(port_file):
            if process.poll() is not None or time.monotonic() > deadline:
                stop_server(process)
                raise RuntimeError(f"chDB front did not start, exit code {process.poll()}")
            time.sleep(0.02)
        return process, int(port_file.read_text())


def stop_server(process: subprocess.Popen[bytes]) -> None:
    """Let a front shut down, or kill it after half a minute."""
    process.terminate()
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _answers_ping(port_file: Path) -> bool:
    with contextlib.suppress(OSError):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        opener.open(f"http://{HOST}:{port_file.read_text()}/ping", timeout=5).close()
        return True
    return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the port file appears once requests are accepted."""
    parser = argparse.ArgumentParser(description="A ClickHouse HTTP endpoint on top of chDB.")
    parser.add_argument("--path", type=Path, required=True, help="data directory of the engine")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1, 0 for a free one")
    parser.add_argument("--port-file", type=Path, help="file to write the port to")
    parser.add_argument("--user", default="default")
    parser.add_argument("--password", default="")
    parser.add_argument("--config", default="", help="configuration file of ClickHouse")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the parent")
    options = parser.parse_args(arguments)
    os.environ["TZ"] = "UTC"  # Before the engine starts: results must not depend on the host's time zone.
    time.tzset()
    # Before any thread starts, so that all inherit the mask and only sigwait gets these signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    logging.raiseExceptions = False  # Writing to the log of statements may fail, as on a full disk.
    _LOG.setLevel(logging.INFO)
    options.path.mkdir(parents=True, exist_ok=True)
    _LOG.addHandler(RotatingFileHandler(options.path / STATEMENTS, maxBytes=4_000_000, encoding="utf-8"))
    server = ChdbServer(options.path.resolve(), options.port, options.user, options.password, options.config)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if options.port_file:
        unfinished = options.port_file.with_suffix(".unfinished")
        unfinished.write_text(str(server.server_port))
        unfinished.replace(options.port_file)
    if options.until_stdin_closes:
        threading.Thread(target=_terminate_at_end_of_input, daemon=True).start()
    signal.sigwait((signal.SIGTERM, signal.SIGINT))
    server.shutdown()
    server.server_close()
    return 0


def _terminate_at_end_of_input() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
