package broker_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/recountdb/recount/pipeline/broker"
)

// kcat runs kcat, which uses librdkafka, as the clients of most other languages do.
func kcat(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	path, err := exec.LookPath("kcat")
	if err != nil {
		t.Skip("kcat is not installed (Debian: apt-get install kcat)")
	}
	var out, errs strings.Builder
	cmd := exec.CommandContext(testContext(t), path, append([]string{"-m", "60"}, args...)...) // kcat waits for 5 seconds otherwise
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func TestKcat(t *testing.T) {
	t.Parallel() // mostly waits
	b := listening(t, broker.Options{AutoCreateTopics: true, DefaultPartitions: 1})
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			t.Parallel()
			lines := strings.Repeat("a line like the others\n", 100)
			if _, stderr, err := kcat(t, lines, "-P", "-b", b.Addr(), "-t", codec, "-z", codec, "-X", "enable.idempotence=true", "-H", "h=v"); err != nil {
				t.Fatalf("produce: %v\n%s", err, stderr)
			}
			got, stderr, err := kcat(t, "", "-C", "-b", b.Addr(), "-t", codec, "-e", "-q", "-o", "beginning")
			if err != nil || got != lines {
				t.Errorf("consume: %d bytes of %d, %v\n%s", len(got), len(lines), err, stderr)
			}
		})
	}
	t.Run("group", func(t *testing.T) {
		t.Parallel()
		if _, stderr, err := kcat(t, "one\ntwo\n", "-P", "-b", b.Addr(), "-t", "shared"); err != nil {
			t.Fatalf("produce: %v\n%s", err, stderr)
		}
		consume := func() string {
			got, stderr, err := kcat(t, "", "-b", b.Addr(), "-q", "-e", "-X", "auto.offset.reset=earliest", "-G", "readers", "shared")
			if err != nil {
				t.Fatalf("consume: %v\n%s", err, stderr)
			}
			return got
		}
		if got := consume(); got != "one\ntwo\n" {
			t.Errorf("first read %q", got)
		}
		if _, stderr, err := kcat(t, "three\n", "-P", "-b", b.Addr(), "-t", "shared"); err != nil {
			t.Fatalf("produce: %v\n%s", err, stderr)
		}
		if got := consume(); got != "three\n" {
			t.Errorf("the second goes on with %q, want what the first did not read", got)
		}
		if got, stderr, err := kcat(t, "", "-L", "-b", b.Addr()); err != nil || !strings.Contains(got, `topic "shared" with 1 partitions`) {
			t.Errorf("list: %v\n%s%s", err, got, stderr)
		}
		if got, stderr, err := kcat(t, "", "-Q", "-b", b.Addr(), "-t", "shared:0:-1"); err != nil || !strings.Contains(got, "offset 3") {
			t.Errorf("query: %v\n%s%s", err, got, stderr)
		}
	})
}

func TestKcatSASL(t *testing.T) {
	t.Parallel()
	b := saslBroker(t)
	for _, mechanism := range []string{broker.MechanismPlain, broker.MechanismScramSHA256, broker.MechanismScramSHA512} {
		t.Run(mechanism, func(t *testing.T) {
			t.Parallel()
			list := func(password string, wait int) (string, string, error) {
				return kcat(t, "", "-L", "-m", strconv.Itoa(wait), "-b", b.Addr(), "-X", "security.protocol=SASL_PLAINTEXT",
					"-X", "sasl.mechanism="+mechanism, "-X", "sasl.username=ann", "-X", "sasl.password="+password)
			}
			if got, stderr, err := list("secret", 60); err != nil || !strings.Contains(got, "1 brokers") {
				t.Errorf("right password: %v\n%s%s", err, got, stderr)
			}
			for wait := 2; ; wait *= 4 { // kcat tries again until then; a slow machine may have no answer yet
				got, stderr, err := list("guess", wait)
				if err != nil && strings.Contains(stderr, "wrong user or password") {
					break
				}
				if err == nil || wait > 60 {
					t.Errorf("a wrong password: %v\n%s%s", err, got, stderr)
					break
				}
			}
		})
	}
}
