"""HTTPS of a cluster: one key for its web servers, with a certificate that nobody but itself has signed."""

import os
import subprocess
from pathlib import Path

from . import distribution
from .errors import ClusterError

_PASSWORD = "of this cluster alone"


class Tls:
    """What web servers show, and what clients trust."""

    def __init__(self, state_dir):
        self._folder = Path(state_dir) / "tls"
        #: The certificate, for clients that are not Java's.
        self.certificate = self._folder / "certificate.pem"

    def create(self, hosts):
        """Makes key and certificate, which is good for these addresses."""
        self._folder.mkdir()
        self._keytool("-genkeypair", "-keystore", self._folder / "server.p12", "-keyalg", "EC", "-dname", "CN=Hiatus cluster",
                      "-ext", f"san={','.join(f'ip:{host}' for host in hosts)}")
        self._keytool("-exportcert", "-rfc", "-keystore", self._folder / "server.p12", "-file", self.certificate)
        self._keytool("-importcert", "-noprompt", "-keystore", self._folder / "trusted.p12", "-file", self.certificate)

    def hadoop_properties(self):
        """What Hadoop is told; the addresses of web servers are the cluster's own affair."""
        return {
            **{f"{prefix}.http.policy": "HTTPS_ONLY" for prefix in ("dfs", "yarn", "mapreduce.jobhistory")},
            **{f"ssl.server.{key}": _PASSWORD for key in ("keystore.password", "keystore.keypassword")},
            "ssl.server.keystore.location": self._folder / "server.p12",
            "ssl.server.keystore.type": "pkcs12",
            "ssl.client.truststore.location": self._folder / "trusted.p12",
            "ssl.client.truststore.password": _PASSWORD,
            "ssl.client.truststore.type": "pkcs12",
        }

    @staticmethod
    def _keytool(*words):
        done = subprocess.run([distribution.java_home() / "bin" / "keytool", *words, "-storetype", "PKCS12", "-storepass", _PASSWORD, "-alias", "web"],
                              env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True)
        if done.returncode:
            raise ClusterError(f"keytool {words[0]} failed: {(done.stdout + done.stderr).strip()[-1000:]}")
