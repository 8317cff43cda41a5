package code

// OwnerPatternMatches says whether a pattern of CODEOWNERS holds for a path.
func OwnerPatternMatches(pattern, path string) bool { return ownerPattern(pattern).MatchString(path) }
