"""A relay for connections that sees what clients send, and can cut connections."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

HOST = "127.0.0.1"


class Relay(socketserver.ThreadingTCPServer):
    """Listens on a local port and forwards to another one, which may change."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, target: int) -> None:
        super().__init__((HOST, 0), _Handler)
        self.target = target
        self.connections: set[socket.socket] = set()
        self.times = 0
        self._pattern = b""
        self._action: Callable[[], object] | None = None
        self._guard = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self.server_address[1])

    def when(self, text: str, action: Callable[[], object]) -> None:
        """Do something once (never if ``text`` is empty), as soon as a client sends ``text``; ``times`` counts how
        often."""
        with self._guard:
            self._pattern, self._action, self.times = text.encode(), action, 0

    def heard(self, said: bytes) -> bytes:
        """Look for the awaited text in what a client sends. Return what may be its beginning."""
        if not self._pattern:
            return b""
        *before, rest = said.split(self._pattern)
        with self._guard:
            self.times += len(before)
            action, self._action = (None, self._action) if not before else (self._action, None)
        if action:
            threading.Thread(target=action, daemon=True).start()
        return rest[-len(self._pattern) + 1 :]

    def cut(self) -> None:
        """Cut every connection."""
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing, because connections are meant to break."""


class _Handler(socketserver.BaseRequestHandler):
    server: Relay

    def handle(self) -> None:
        with socket.create_connection((HOST, self.server.target)) as server:
            both = {self.request, server}
            self.server.connections |= both
            back = threading.Thread(target=self._pump, args=(server, self.request), daemon=True)
            back.start()
            self._pump(self.request, server, is_client=True)
            back.join()
            self.server.connections -= both

    def _pump(self, source: socket.socket, target: socket.socket, is_client: bool = False) -> None:
        said = b""
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
                if is_client:
                    said = self.server.heard(said + data)
        for connection in (source, target):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def relaying(target: int) -> Iterator[Relay]:
    """A relay for the block."""
    with Relay(target) as relay:
        try:
            yield relay
        finally:
            relay.cut()
            relay.shutdown()
