package schemas

import "strings"

// Issues and pull requests are always named OWNER/REPO#NUMBER.

// maxIssues limits how many issues are taken from one message; the first ones count.
const maxIssues = 32

// RepositoryOf returns "owner/repo" from the last of the names that identifies a repository, "" if
// none does. It accepts acme/shop, github.com/acme/shop, git.example.org/acme/shop and
// /home/ann/src/github.com/acme/shop.
func RepositoryOf(names ...string) string {
	for i := len(names) - 1; i >= 0; i-- {
		name := strings.TrimSuffix(strings.TrimSuffix(names[i], "/"), ".git")
		parts := strings.Split(name, "/")
		for j, p := range parts {
			if j+2 < len(parts) && isForge(p) {
				return parts[j+1] + "/" + parts[j+2]
			}
		}
		if len(parts) == 3 && strings.Contains(parts[0], ".") && IsRepoPart(parts[0]) {
			parts = parts[1:] // a self-hosted forge
		}
		if len(parts) == 2 && IsRepoPart(parts[0]) && IsRepoPart(parts[1]) {
			return parts[0] + "/" + parts[1]
		}
	}
	return ""
}

func isForge(host string) bool {
	return host == "github.com" || host == "gitlab.com" || host == "bitbucket.org" || host == "codeberg.org"
}

// IsRepoPart reports whether s is a valid name of a repository or of its owner.
func IsRepoPart(s string) bool {
	if s == "" || len(s) > 100 || s[0] == '.' || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}

// IsIssueNumber reports whether s is a valid issue number: one to seven digits without a leading
// zero.
func IsIssueNumber(s string) bool {
	return s != "" && len(s) <= 7 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// ForgeURL splits the URL of something in a repository: https://github.com/acme/shop/pull/12/files
// gives acme/shop, "pull" and "12". ok is false if the host is not a known forge.
func ForgeURL(u string) (repo, kind, name string, ok bool) {
	_, rest, _ := strings.Cut(u, "://")
	host, where, _ := strings.Cut(rest, "/")
	where, _, _ = strings.Cut(where, "#")
	where, _, _ = strings.Cut(where, "?")
	parts := strings.Split(strings.Replace(where, "/-/", "/", 1), "/")
	if !isForge(host) || len(parts) < 4 || !IsRepoPart(parts[0]) || !IsRepoPart(parts[1]) {
		return "", "", "", false
	}
	return parts[0] + "/" + parts[1], parts[2], parts[3], true
}

// IssueOf returns the issue or pull request that a URL refers to.
func IssueOf(u string) (issue string, ok bool) {
	repo, kind, name, ok := ForgeURL(u)
	if !ok || kind != "issues" && kind != "pull" && kind != "merge_requests" || !IsIssueNumber(name) {
		return "", false
	}
	return repo + "#" + name, true
}

// IssuesNamed returns the issues that a commit message names, in order and without duplicates. It
// recognises owner/repo#12 and URLs, and if the repository is known (owner/repo) also its own
// "#12", "GH-12" and "issue 12".
func IssuesNamed(message, repository string) []string {
	var all []string
	seen := map[string]bool{}
	add := func(repo, number string) {
		issue := repo + "#" + number
		if repo != "" && IsIssueNumber(number) && !seen[issue] && len(all) < maxIssues {
			seen[issue] = true
			all = append(all, issue)
		}
	}
	before := ""
	for word := range strings.FieldsSeq(message) {
		word = strings.Trim(word, "\"'`()[]{}<>,;:.!?*")
		if i := strings.Index(word, "https://"); i >= 0 {
			if repo, number, ok := strings.Cut(issueOf(word[i:]), "#"); ok {
				add(repo, number)
			}
			continue
		}
		for part := range strings.FieldsFuncSeq(word, func(c rune) bool { return strings.ContainsRune("()[],;:", c) }) {
			repo, number, hash := strings.Cut(part, "#")
			owner, name, whole := strings.Cut(repo, "/")
			last := strings.ToLower(before)
			switch before = part; {
			case hash && repo == "", hash && strings.EqualFold(repo, "gh"):
				add(repository, number)
			case hash && whole && IsRepoPart(owner) && IsRepoPart(name):
				add(repo, number)
			case len(part) > 3 && strings.EqualFold(part[:3], "gh-"):
				add(repository, part[3:])
			case last == "issue" || last == "issues":
				add(repository, part)
			}
		}
	}
	return all
}

func issueOf(u string) string {
	issue, _ := IssueOf(u)
	return issue
}
