package cli

import "testing"

func TestInstalled(t *testing.T) {
	for _, c := range []struct{ name, tag, want string }{
		{"a release", "v1.2.3", "1.2.3"},
		{"a release candidate", "v1.2.3-rc.1", "1.2.3-rc.1"},
		{"a working copy", "(devel)", devVersion},
		{"without a version", "", devVersion},
		{"a commit without a tag", "v0.0.0-20261123031112-abcdef123456", devVersion},
		{"a commit behind a tag", "v1.2.4-0.20261123031112-abcdef123456", devVersion},
		{"a tag with changes of one's own", "v1.2.3+dirty", devVersion},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := installed(c.tag); got != c.want {
				t.Errorf("installed(%q) = %q, want %q", c.tag, got, c.want)
			}
		})
	}
}
