package schemas

import (
	"net/url"
	"regexp"
	"strings"
)

// MaxCommitParts limits the number of events that one commit is split into.
const MaxCommitParts = 4096

var scpLike = regexp.MustCompile(`^(?:[^/@:]+@)?([^/:@]+):(.*)$`)

// CanonicalURL returns the host and path of a remote, without scheme, user, password, port and
// .git: https://me:token@github.com/acme/shop.git and git@github.com:acme/shop have the same one.
// It returns "" for a remote on this machine.
func CanonicalURL(remote string) string {
	host, p := "", ""
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.Scheme == "file" {
			return ""
		}
		host, p = u.Hostname(), u.Path
	} else if m := scpLike.FindStringSubmatch(remote); m != nil && len(m[1]) > 1 { // one letter is a Windows drive
		host, p = m[1], m[2]
	}
	p = strings.TrimSuffix(strings.Trim(p, "/"), ".git")
	p = strings.Trim(strings.TrimPrefix(p, "~"), "/")
	if host == "" || p == "" {
		return ""
	}
	return strings.ToValidUTF8(strings.ToLower(host)+"/"+p, "?")
}
