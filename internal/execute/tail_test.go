package execute

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTail(t *testing.T) {
	tl := &tail{max: 10}
	for range 100 {
		fmt.Fprint(tl, "0123456\nüü")
	}
	got := tl.String()
	if len(got) > 10 || !utf8.ValidString(got) || !strings.HasSuffix(got, "üü") {
		t.Errorf("got %q", got)
	}
	short := &tail{max: 100}
	fmt.Fprint(short, "all of it\n")
	if got := short.String(); got != "all of it" {
		t.Errorf("got %q", got)
	}
}
