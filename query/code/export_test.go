package code

// OwnerPatternMatches says whether a pattern of CODEOWNERS holds for a path.
func OwnerPatternMatches(pattern, path string) bool { return ownerPattern(pattern).MatchString(path) }

// GitLabPatternMatches says the same by GitLab's rules.
func GitLabPatternMatches(pattern, path string) bool { return gitlabPattern(pattern).MatchString(path) }

// Takes says whether a request for a path could reach a route's pattern.
var Takes = takes

// NamesIn are the names of code in a text.
var NamesIn = namesIn
