"""The ResourceManager, asked over HTTP whether Hiatus may be taken out; by `yarn hiatus` where HTTP alone does not do."""

import json
import re
import subprocess
import urllib.error
import urllib.request

from .refusal import Refusal

_PATH = "/ws/v1/hiatus"
_TIMEOUT_S = 10


def addresses(site):
    """Web addresses of the ResourceManagers, by yarn-site.xml."""
    secure = site.get("yarn.http.policy") == "HTTPS_ONLY"
    ids = [one.strip() for one in (site.get("yarn.resourcemanager.ha.rm-ids") or "").split(",") if one.strip()]
    return [_address(site, secure, "." + one if one else "") for one in ids or [""]]


def _address(site, secure, suffix):
    key, port = ("webapp.https.address", 8090) if secure else ("webapp.address", 8088)
    host = site.get("yarn.resourcemanager.hostname" + suffix) or site.get("yarn.resourcemanager.hostname") or "localhost"
    address = site.get("yarn.resourcemanager." + key + suffix) or "{}:{}".format(host, port)
    address = re.sub(r"\$\{([^}]+)\}", lambda found: site.get(found.group(1)) or found.group(0), address)
    return ("https://" if secure else "http://") + address


def require_idle(bases, command):
    """Raises Refusal unless a ResourceManager says that Hiatus is off and nothing is suspended, or that it is not there at all.

    ``command`` is `yarn` of this Hadoop: it has tickets of Kerberos and certificates, and is asked where no ResourceManager answers
    without. Whether one of them still runs Hiatus.
    """
    problems, is_running = [], None
    for base in bases:
        try:
            with urllib.request.urlopen(urllib.request.Request(base + _PATH, headers={"Accept": "application/json"}),
                                        timeout=_TIMEOUT_S) as answer:
                said = json.loads(answer.read().decode())
        except urllib.error.HTTPError as error:
            if error.code == 404:
                is_running = is_running or False  # it runs another scheduler
                continue
            problems.append("{}{} answers {} {}".format(base, _PATH, error.code, error.reason))
        except (OSError, ValueError) as error:
            problems.append("{}{} does not answer: {}".format(base, _PATH, error))
        else:
            _judge(said)
            is_running = True
    if is_running is not None:
        return is_running
    if any("answers 401" in problem or "CERTIFICATE_VERIFY_FAILED" in problem for problem in problems):
        try:
            done = subprocess.run(command + ["hiatus", "status", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
            if done.returncode == 0:
                _judge(json.loads(done.stdout))
                return True
            if done.stderr.startswith("404 "):
                return False
            problems.append("`yarn hiatus status` says: {}".format(done.stderr.strip()))
        except (OSError, ValueError) as error:
            problems.append("`yarn hiatus status` does not work: {}".format(error))
    raise Refusal("nobody tells whether containers are suspended: {}. Name the ResourceManager's web address by --rm, or use --force "
                  "if no container of this cluster can be suspended".format("; ".join(problems)))


def _judge(said):
    if said.get("mode") != "off":
        raise Refusal("Hiatus is in mode {}: set yarn.scheduler.hiatus.mode to off in the ResourceManager's yarn-site.xml, run "
                      "`yarn rmadmin -refreshQueues`, and try again".format(said.get("mode")))
    if said.get("suspended_now") != 0:
        raise Refusal("{} containers are still suspended, and go on as room appears on their nodes: try again later".format(
            said.get("suspended_now")))
