"""The Kubernetes manifests say what the binary does: their configuration is good, and ports, paths, names and times
agree with it."""

import http.client
import re
import unittest

import yaml

from support.case import SystemTest
from support.ports import free_port
from support.stint import ROOT

MANIFESTS = ROOT / "config/kubernetes/stint.yaml"


def seconds(duration):
    return int(re.fullmatch(r"(\d+)s", duration)[1])


class Kubernetes(SystemTest):
    def setUp(self):
        super().setUp()
        documents = list(yaml.safe_load_all(MANIFESTS.read_text("utf-8")))
        self.of = {document["kind"]: document for document in documents}
        self.assertEqual(len(self.of), len(documents))
        self.pod = self.of["Deployment"]["spec"]["template"]
        self.container = self.pod["spec"]["containers"][0]
        self.configuration = yaml.safe_load(self.of["ConfigMap"]["data"]["stint.yaml"])

    def test_ports_are_those_of_the_listeners(self):
        ports = {each["name"]: each["containerPort"] for each in self.container["ports"]}
        self.assertEqual(f"0.0.0.0:{ports['http']}", self.configuration["listeners"][0]["address"])
        self.assertEqual(f"0.0.0.0:{ports['admin']}", self.configuration["admin"]["address"])
        self.assertEqual([each["targetPort"] for each in self.of["Service"]["spec"]["ports"]], ["http"])
        probes = [self.container[probe]["httpGet"]["port"] for probe in ("readinessProbe", "livenessProbe")]
        monitored = [each["port"] for each in self.of["PodMonitor"]["spec"]["podMetricsEndpoints"]]
        self.assertEqual({*probes, *monitored}, {"admin"})

    def test_selectors_find_the_pods(self):
        labels = self.pod["metadata"]["labels"].items()
        for kind in ("Deployment", "PodDisruptionBudget", "PodMonitor"):
            self.assertLessEqual(self.of[kind]["spec"]["selector"]["matchLabels"].items(), labels, kind)
        self.assertLessEqual(self.of["Service"]["spec"]["selector"].items(), labels)

    def test_files_are_mounted_where_they_are_read(self):
        mounts = {each["mountPath"]: each["name"] for each in self.container["volumeMounts"]}
        volumes = {each["name"]: each for each in self.pod["spec"]["volumes"]}
        folder, _, file = self.container["args"][-1].rpartition("/")
        self.assertIn(file, self.of["ConfigMap"]["data"])
        self.assertEqual(volumes[mounts[folder]]["configMap"]["name"], self.of["ConfigMap"]["metadata"]["name"])
        folder, _, _ = self.configuration["admin"]["token_file"].rpartition("/")
        self.assertIn("secret", volumes[mounts[folder]])

    def test_a_pod_has_time_to_drain(self):
        timeouts = self.configuration["timeouts"]
        self.assertGreater(self.pod["spec"]["terminationGracePeriodSeconds"],
                           seconds(timeouts["drain_delay"]) + seconds(timeouts["drain"]))

    def test_the_configuration_serves_probes_without_a_token(self):
        token = self.folder / "token"
        token.write_text("secret-of-the-test")
        token.chmod(0o440)
        made = self.configuration
        made["listeners"][0]["address"] = f"127.0.0.1:{free_port()}"
        made["admin"].update(address=f"0.0.0.0:{free_port()}", token_file=str(token))
        made["upstreams"]["app"]["endpoints"] = [self.start_upstream().address]
        self.start_stint(made)
        paths = [self.container[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")]
        paths += [each["path"] for each in self.of["PodMonitor"]["spec"]["podMetricsEndpoints"]]
        for path in paths:
            connection = http.client.HTTPConnection("127.0.0.1", int(made["admin"]["address"].rpartition(":")[2]))
            connection.request("GET", path, headers={"Host": "10.42.0.17:9901"})  # as a kubelet: the Pod's address
            self.assertEqual(connection.getresponse().status, 200, path)
            connection.close()


if __name__ == "__main__":
    unittest.main()
