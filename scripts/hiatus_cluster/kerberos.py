"""A secure cluster: a Kerberos realm of its own, with MIT's KDC on loopback, and the properties that have Hadoop use it.

Needs Debian's ``krb5-kdc`` and ``krb5-user``, and Hadoop's native library, without which secure shuffling does not work.
"""

import getpass
import os
import subprocess
from pathlib import Path

from . import layout
from .errors import ClusterError

REALM = "HIATUS"
#: A user in ``yarn.admin.acl``, and one who has nothing to do with anybody's jobs. Jobs are the user's who started the cluster: with
#: DefaultContainerExecutor theirs are the files, and a secure NodeManager hands out no map outputs of another user.
ADMIN, STRANGER = "admin", "stranger"
#: A daemon's short name, with the properties of its principal and of its keytab.
_DAEMONS = {
    "nn": ("dfs.namenode.kerberos.principal", "dfs.namenode.keytab.file"),
    "dn": ("dfs.datanode.kerberos.principal", "dfs.datanode.keytab.file"),
    "rm": ("yarn.resourcemanager.principal", "yarn.resourcemanager.keytab"),
    "nm": ("yarn.nodemanager.principal", "yarn.nodemanager.keytab"),
    "jhs": ("mapreduce.jobhistory.principal", "mapreduce.jobhistory.keytab"),
}


class Realm:
    """The realm of one cluster."""

    def __init__(self, state_dir, port):
        self._folder = Path(state_dir) / "kerberos"
        self._log = Path(state_dir) / "logs" / "kdc.log"
        self._port = port

    def create(self, hosts):
        """Makes the data base, and keys for daemons, for web servers on these hosts, and for users."""
        self._folder.mkdir()
        (self._folder / "krb5.conf").write_text(
            f"[libdefaults]\ndefault_realm = {REALM}\ndns_lookup_kdc = false\ndns_lookup_realm = false\n"
            "dns_canonicalize_hostname = false\nrdns = false\nudp_preference_limit = 1\n"
            f"[realms]\n{REALM} = {{\nkdc = 127.0.0.1:{self._port}\n}}\n")
        (self._folder / "kdc.conf").write_text(
            f"[kdcdefaults]\nkdc_listen = 127.0.0.1:{self._port}\nkdc_tcp_listen = 127.0.0.1:{self._port}\n"
            f"[realms]\n{REALM} = {{\ndatabase_name = {self._folder}/principal\nkey_stash_file = {self._folder}/stash\n}}\n"
            f"[logging]\nkdc = FILE:{self._log}\n")
        (self._folder / "http-secret").write_text("of this cluster alone")
        self._tool("kdb5_util", "create", "-s", "-P", "of this cluster alone")
        keys = [*((name, f"{name}/localhost") for name in _DAEMONS), *(("http", f"HTTP/{host}") for host in hosts),
                *((user, user) for user in (getpass.getuser(), ADMIN, STRANGER))]
        self._tool("kadmin.local", stdin="".join(f"addprinc -randkey {name}\nktadd -k {self._folder / keytab}.keytab {name}\n" for keytab, name in keys))

    def command(self):
        """The words that run the KDC, and its environment."""
        return ["krb5kdc", "-n"], self._environment()

    def ticket(self, user=None, life_s=None):
        """The environment of a program that is run as that user (default: who started the cluster), with a ticket.

        ``life_s``: with a new ticket, apart from other ones of that user, that ends after so many seconds.
        """
        user = user or getpass.getuser()
        cache = self._folder / (f"{user}-{life_s}.ticket" if life_s else f"{user}.ticket")
        if life_s or not self._is_valid(cache):
            self._tool("kinit", "-c", cache, "-k", "-t", f"{self._folder / user}.keytab", *(["-l", f"{life_s}s"] if life_s else []), user)
        return {**self._environment(), "KRB5CCNAME": str(cache)}

    def change_key(self, name):
        """Gives a principal a key that its keytab does not have."""
        self._tool("kadmin.local", "-q", f"cpw -randkey {name}")

    def remove(self, name):
        """Takes a principal out of the KDC's database."""
        self._tool("kadmin.local", "-q", f"delprinc -force {name}")

    def without_ticket(self):
        """The environment of a program that is run as a user without a ticket."""
        return {**self._environment(), "KRB5CCNAME": str(self._folder / "nobody.ticket")}

    def jvm_properties(self):
        """System properties of every JVM of the cluster."""
        return {"java.security.krb5.conf": self._folder / "krb5.conf", "java.library.path": layout.HADOOP_NATIVE}

    def hadoop_properties(self, host):
        """What Hadoop is told, on that host."""
        web = f"HTTP/{host}@{REALM}"
        properties = {
            "hadoop.security.authentication": "kerberos",
            "hadoop.security.authorization": "true",
            # None of them is a user of this machine.
            "hadoop.user.group.static.mapping.overrides": ";".join(f"{name}=" for name in (*_DAEMONS, ADMIN, STRANGER)),
            "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
            "hadoop.http.authentication.type": "kerberos",
            "hadoop.http.authentication.simple.anonymous.allowed": "false",
            "hadoop.http.authentication.kerberos.principal": web,
            "hadoop.http.authentication.kerberos.keytab": self._keytab("http"),
            "hadoop.http.authentication.signature.secret.file": self._folder / "http-secret",
            "hadoop.http.staticuser.user": "dr.who",
            "dfs.block.access.token.enable": "true",
            "dfs.data.transfer.protection": "authentication",
            "dfs.web.authentication.kerberos.principal": web,
            "dfs.web.authentication.kerberos.keytab": self._keytab("http"),
            f"hadoop.proxyuser.{ADMIN}.hosts": "*",
            f"hadoop.proxyuser.{ADMIN}.users": "*",
            "yarn.acl.enable": "true",
            "yarn.admin.acl": ADMIN,
            "yarn.scheduler.capacity.root.acl_administer_queue": " ",
            # Not below /tmp, which would be the history server's then, and closed to all others.
            "mapreduce.jobhistory.done-dir": "/history",
            "mapreduce.jobhistory.intermediate-done-dir": "/history-new",
            "mapreduce.cluster.acls.enabled": "true",
            "mapreduce.cluster.administrators": ADMIN,
        }
        for daemon, (principal, keytab) in _DAEMONS.items():
            properties.update({principal: f"{daemon}/localhost@{REALM}", keytab: self._keytab(daemon)})
        for prefix in ("yarn.resourcemanager", "yarn.nodemanager", "mapreduce.jobhistory"):
            properties[f"{prefix}.webapp.spnego-principal"] = web
            properties[f"{prefix}.webapp.spnego-keytab-file"] = self._keytab("http")
        return properties

    def _keytab(self, name):
        return f"{self._folder / name}.keytab"

    def _environment(self):
        return {"KRB5_CONFIG": str(self._folder / "krb5.conf"), "KRB5_KDC_PROFILE": str(self._folder / "kdc.conf"),
                "PATH": os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])}

    def _is_valid(self, cache):
        return subprocess.run(["klist", "-s", "-c", cache], env={**os.environ, **self._environment()}).returncode == 0

    def _tool(self, *words, stdin=None):
        done = subprocess.run(words, env={**os.environ, **self._environment()}, input=stdin, capture_output=True, text=True)
        if done.returncode:
            raise ClusterError(f"`{' '.join(map(str, words))}` ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-1000:]}")
