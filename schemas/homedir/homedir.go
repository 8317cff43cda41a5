// Package homedir says which home directory is the usual one, so that only others have to be recorded.
package homedir

import "strings"

// Usual returns the home directory of a user who worked in a directory, as far as these two show it, and
// "" if neither does.
func Usual(user, cwd string) string {
	parts := strings.Split(strings.TrimPrefix(cwd, "/"), "/")
	switch {
	case len(parts) > 1 && (parts[0] == "home" || parts[0] == "Users") && (user == "" || parts[1] == user):
		return "/" + parts[0] + "/" + parts[1]
	case parts[0] == "root" && (user == "" || user == "root"):
		return "/root"
	case user == "root":
		return "/root"
	}
	// A home elsewhere has the user's name: /mnt/people/ann/app.
	for i, name := range parts {
		if name == user && user != "" && i > 0 {
			return "/" + strings.Join(parts[:i+1], "/")
		}
	}
	if user != "" && !strings.ContainsAny(user, "/ ") {
		return "/home/" + user
	}
	return ""
}

// Unusual returns a home directory if it is not the usual one of a user who worked in a directory, and
// "" if it is, or is no absolute path.
func Unusual(home, user, cwd string) string {
	if home = strings.TrimRight(home, "/"); !strings.HasPrefix(home, "/") || home == Usual(user, cwd) {
		return ""
	}
	return home
}
