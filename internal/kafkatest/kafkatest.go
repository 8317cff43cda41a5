// Package kafkatest starts an Apache Kafka for tests that run the client code of pipeline against
// it. Such tests have the build tag "integration": they need Java and download Kafka's jars on
// first use.
package kafkatest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Start starts one node on loopback and returns its address. The node ends with the test. Without
// Java or mvn the test is skipped; if Kafka does not start, the test fails.
func Start(t testing.TB) (addr string) {
	t.Helper()
	for _, tool := range []string{"bash", "java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no Apache Kafka: %v", err)
		}
	}
	script, err := findScript()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var stderr strings.Builder
	start := exec.Command("bash", script, "start", dir)
	start.Stderr = &stderr
	out, err := start.Output()
	if err != nil {
		t.Fatalf("start Apache Kafka: %v\n%s", err, stderr.String())
	}
	t.Cleanup(func() {
		if out, err := exec.Command("bash", script, "stop", dir).CombinedOutput(); err != nil {
			t.Errorf("stop Apache Kafka: %v\n%s", err, out)
		}
	})
	return strings.TrimSpace(string(out))
}

// findScript searches from the test's directory up to the root of the module.
func findScript() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "scripts", "kafka.sh"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above the test's directory")
		}
	}
}
