package sandbox

import (
	"os"
	"testing"
)

// TestMain makes the test's own program the init of the sandboxes that tests open.
func TestMain(m *testing.M) {
	Init()
	os.Exit(m.Run())
}
