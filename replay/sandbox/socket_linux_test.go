package sandbox

import (
	"errors"
	"os"
	"testing"
)

// TestAClosedSocketLeavesTheNextAlone uses a socket that is closed, whose number the next one has.
// A reader that came late once took the first message of the next sandbox.
func TestAClosedSocketLeavesTheNextAlone(t *testing.T) {
	pair := func() (*hostSocket, socket, uintptr) {
		host, inside, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { host.close(); _ = inside.Close() })
		var number uintptr
		if err := host.raw.Control(func(fd uintptr) { number = fd }); err != nil {
			t.Fatal(err)
		}
		return host, socket(inside.Fd()), number
	}
	old, _, before := pair()
	old.close()
	next, inside, number := pair()
	if number != before {
		t.Fatalf("the next socket is %d, not %d: nothing is tested", number, before)
	}
	if err := inside.send(reply{Ready: true}); err != nil {
		t.Fatal(err)
	}
	var r reply
	if err := old.receive(&r); !errors.Is(err, os.ErrClosed) || r.Ready {
		t.Errorf("the closed socket received %+v, %v", r, err)
	}
	if err := old.send(order{Op: "kill-all"}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the closed socket sent: %v", err)
	}
	if err := next.receive(&r); err != nil || !r.Ready {
		t.Errorf("the next one received %+v, %v", r, err)
	}
}

// TestAnEndedHelperSaysHow starts a helper that ends at once.
func TestAnEndedHelperSaysHow(t *testing.T) {
	for script, want := range map[string]string{
		"exit 7":            "sandbox: probe: the helper ended: EOF (exit status 7)",
		"echo why >&2":      "sandbox: probe: the helper ended: EOF (exit status 0): why",
		"kill -ABRT 1; :":   "sandbox: probe: the helper ended: EOF (exit status 0)", // 1 is itself, which the kernel spares
		"exec 3>&-; exit 9": "sandbox: probe: the helper ended: EOF (exit status 9)",
	} {
		_, err := Probe(t.Context(), []string{"sh", "-c", "dd bs=65536 count=1 <&3 >/dev/null 2>&1; " + script})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", script, err)
		}
	}
}
