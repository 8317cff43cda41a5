//go:build integration

package broker_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/pipeline/broker"
)

// kgoSuite lists those of franz-go's own client tests that use a broker, with their expected
// results. README.md has the reasons of those that do not pass. The other tests need no broker, or
// use a fake one.
var kgoSuite = map[string]string{
	"TestAddRemovePartitions":                "pass",
	"TestClient_Produce":                     "pass",
	"TestClient_ProduceLargeMessages":        "pass",
	"TestConsumeTopicRetrieval":              "pass",
	"TestDirectPartitionPurge":               "pass",
	"TestGroupETL":                           "pass",
	"TestGroupETL/range":                     "pass",
	"TestGroupETL/cooperative-sticky":        "pass",
	"TestGroupETL/cooperative-sticky/static": "pass",
	"TestGroupSimple":                        "pass",
	"TestIssue1034":                          "pass",
	"TestIssue325":                           "pass",
	"TestIssue337":                           "pass",
	"TestIssue434":                           "pass",
	"TestIssue523":                           "pass",
	"TestIssue648":                           "pass",
	"TestIssue769":                           "pass",
	"TestIssue810":                           "pass",
	"TestIssue865":                           "pass",
	"TestPauseIssue489":                      "pass",
	"TestPauseIssueOct2023":                  "pass",
	"TestPing":                               "pass",
	"TestPooling":                            "pass",
	"TestSCRAMAuth":                          "pass",
	"TestSCRAMAuthBadCredentials":            "pass",

	"TestConsumeRegex": "fail",

	"Test848RegexBrokerResolves":         "skip",
	"TestConsumeRegexShareSkipsInternal": "skip",
	"TestGroupETL/range/848":             "skip",
	"TestGroupETL/sticky/848":            "skip",
	"TestGroupETL/sticky/848/static":     "skip",
	"TestGroupSimple/848":                "skip",
	"TestShareGroup":                     "skip",
	"TestShareGroupAckOnClose":           "skip",
	"TestShareGroupETL":                  "skip",
	"TestShareGroupOffsetsAdmin":         "skip",
}

// TestKgoSuite runs franz-go's tests of pkg/kgo, from the module's source at the version in go.mod,
// against two brokers on loopback, one of which requires SCRAM. Only TestTxnEtl is left out,
// because it needs transactions. scripts/kgo-suite.sh runs it.
//
//	KGO_TEST_RECORDS   number of records through the chains of groups (100,000; theirs is 500,000)
//	KGO_SUITE_REPORT   file for the complete output, as JSON lines
func TestKgoSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/twmb/franz-go")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("find the source of franz-go: %v", err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(out)))); err != nil {
		t.Fatal(err)
	}
	b := listening(t, broker.Options{})
	secured := saslBroker(t)

	records := os.Getenv("KGO_TEST_RECORDS")
	if records == "" {
		records = "100000"
	}
	suite := exec.CommandContext(t.Context(), "go", "test", "-json", "-count=1", "-timeout=14m", "-skip=^TestTxnEtl$", "./pkg/kgo")
	suite.Dir = dir
	suite.Env = append(os.Environ(),
		"GOWORK=off", "GOFLAGS=-mod=mod",
		"KGO_SEEDS="+b.Addr(),
		"KGO_TEST_RF=1",
		"KGO_TEST_RECORDS="+records,
		"KGO_LOG_LEVEL=none",
		"KGO_TEST_SCRAM=ann:secret",
		"KGO_TEST_SCRAM_SEEDS="+secured.Addr(),
	)
	var stderr bytes.Buffer
	suite.Stderr = &stderr
	report, err := suite.Output()
	t.Logf("go test ./pkg/kgo of franz-go: %v", err)
	if path := os.Getenv("KGO_SUITE_REPORT"); path != "" {
		if err := os.WriteFile(filepath.Clean(path), report, 0o644); err != nil {
			t.Error(err)
		}
	}

	got := map[string]string{}
	output := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(report))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("report: %v: %s", err, lines.Bytes())
		}
		switch e.Action {
		case "pass", "fail", "skip":
			got[e.Test] = e.Action
		case "output":
			output[e.Test] += e.Output
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 {
		t.Fatalf("no test ran:\n%s", &stderr)
	}
	passed := 0
	for name, result := range got {
		if result == "pass" {
			passed++
		}
		if result == "fail" && name != "" && kgoSuite[name] != "fail" {
			t.Errorf("%s failed:\n%s", name, output[name])
		}
	}
	var names []string
	for name := range kgoSuite {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("%-4s %s", got[name], name)
		if got[name] != kgoSuite[name] {
			t.Errorf("%s: %q, documented as %q", name, got[name], kgoSuite[name])
		}
	}
	t.Logf("%d tests and subtests passed in all", passed)
}
