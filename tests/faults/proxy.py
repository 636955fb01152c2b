"""A proxy between dbt and ClickHouse that cuts connections.

It forwards one request after another. A cut gives the number of a request that is lost: before ClickHouse receives it,
while ClickHouse works on it, or after ClickHouse has answered. Or nothing can be reached for a while.
"""

from __future__ import annotations

import http.client
import socket
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOST = "127.0.0.1"
_HOP_BY_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length")


@dataclass
class Cut:
    """How the connection is cut at the ``number``-th statement from now on, starting with 1.

    Attributes:
        when: `before`, `during` or `after` ClickHouse runs the statement; `half`: half of the answer arrives; `gone`:
        no
            answers for ``seconds``; `busy`: the same, but with status 503.
        pattern: count only statements that contain it.
        is_done: whether the cut has happened.
    """

    when: str
    number: int
    pattern: str = ""
    seconds: float = 0.0
    is_done: bool = False
    statement: str = ""


class Proxy(ThreadingHTTPServer):
    """Listens on one port and forwards to another, which may change."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Handler)
        self.target = 0
        self.statements = 0
        self._cut: Cut | None = None
        self._until = 0.0
        self._guard = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return self.server_port

    def arm(self, cut: Cut | None) -> None:
        """Cut as ``cut`` says, or stop cutting."""
        with self._guard:
            self._cut, self.statements, self._until = cut, 0, 0.0

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing, because connections are meant to break."""

    def rewrite(self, body: bytes) -> bytes:
        """What ClickHouse receives instead of a request."""
        return body

    def fate_of(self, body: bytes) -> str:
        """How a request is cut; empty if it is not."""
        text = body.decode(errors="replace")
        with self._guard:
            cut = self._cut
            if not cut:
                return ""
            if time.monotonic() < self._until:
                return cut.when
            if cut.pattern not in text or cut.is_done:
                return ""
            self.statements += 1
            if self.statements < cut.number:
                return ""
            cut.is_done, cut.statement = True, " ".join(text.partition("*/")[2].split())[:120]
            self._until = time.monotonic() + cut.seconds
            return cut.when


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Proxy

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fate = self.server.fate_of(body)
        if fate == "busy":
            self.send_error(503)
            return
        if fate in ("before", "gone"):
            self._break_off()
            return
        body = self.server.rewrite(body)
        if fate == "during":
            threading.Thread(target=self._forward, args=(body,), daemon=True).start()
            time.sleep(0.005)
            self._break_off()
            return
        try:
            answer, data = self._forward(body)
        except OSError:
            self._break_off()
            return
        if fate == "after":
            self._break_off()
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in (*_HOP_BY_HOP, "server", "date"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if fate == "half":
            self.wfile.write(data[: len(data) // 2])
            self._break_off()
            return
        self.wfile.write(data)

    def _forward(self, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection(HOST, self.server.target)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            return answer, answer.read()
        except http.client.HTTPException as error:
            raise ConnectionError from error
        finally:
            connection.close()

    def _break_off(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""
