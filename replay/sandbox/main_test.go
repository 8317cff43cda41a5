package sandbox

import (
	"os"
	"testing"
)

// TestMain makes the test's own program the init of the sandboxes that tests open, and the one that
// tries to get out of them.
func TestMain(m *testing.M) {
	Init()
	attackMain()
	os.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	os.Exit(m.Run())
}
