package homedir_test

import (
	"testing"

	"github.com/recountdb/recount/schemas/homedir"
)

func TestUsual(t *testing.T) {
	for _, c := range []struct{ user, cwd, want string }{
		{"ann", "/home/ann/app", "/home/ann"},
		{"ann", "/Users/ann/app", "/Users/ann"},
		{"ann", "/srv/app", "/home/ann"},
		{"root", "/srv/app", "/root"},
		{"root", "/home/ann/app", "/root"},
		{"ann", "/mnt/people/ann/app", "/mnt/people/ann"},
		{"", "/home/ann/app", "/home/ann"},
		{"", "/srv/app", ""},
		{"", "", ""},
	} {
		if got := homedir.Usual(c.user, c.cwd); got != c.want {
			t.Errorf("%s in %s: got %q, want %q", c.user, c.cwd, got, c.want)
		}
	}
}

func TestUnusual(t *testing.T) {
	for _, c := range []struct{ home, user, cwd, want string }{
		{"/home/ann", "ann", "/home/ann/app", ""},
		{"/home/ann/", "ann", "/srv", ""},
		{"/tmp/home", "root", "/tmp/home/app", "/tmp/home"},
		{"/Users/ann", "ann", "/opt/app", "/Users/ann"},
		{"", "ann", "/srv", ""},
		{"/", "ann", "/srv", ""},
		{"home", "ann", "/srv", ""},
	} {
		if got := homedir.Unusual(c.home, c.user, c.cwd); got != c.want {
			t.Errorf("%s of %s in %s: got %q, want %q", c.home, c.user, c.cwd, got, c.want)
		}
	}
}
