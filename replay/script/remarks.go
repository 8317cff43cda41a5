package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// remarks are what shellcheck says about how people write commands, by what a command has for it to be
// said. A replay keeps commands as they are, so a script disables those that its own commands may cause;
// what is around them stays checked, and so do the other errors.
var remarks = []struct {
	has   *regexp.Regexp
	codes string
}{
	{regexp.MustCompile(`\$`), "SC2016 SC2034 SC2046 SC2086 SC2089 SC2090 SC2125 SC2140 SC2153 SC2154 SC2206 SC2207 SC2248 SC2250"},
	{regexp.MustCompile("`"), "SC2006 SC2016 SC2046"},
	{regexp.MustCompile(`=`), "SC2034 SC2140 SC2155 SC2209"},
	{regexp.MustCompile(`\|`), "SC2030 SC2031 SC2094"},
	{regexp.MustCompile(`\b(cd|pushd)\b`), "SC2103 SC2164"},
	{regexp.MustCompile(`\bls\b`), "SC2010 SC2011 SC2012 SC2045"},
	{regexp.MustCompile(`\bcat\b`), "SC2002"},
	{regexp.MustCompile(`\bps\b`), "SC2009"},
	{regexp.MustCompile(`\bfind\b`), "SC2038 SC2044 SC2061 SC2062 SC2146 SC2156 SC2185"},
	{regexp.MustCompile(`\bfor\b`), "SC2013 SC2034 SC2043 SC2044 SC2045 SC2231"},
	{regexp.MustCompile(`[*?]`), "SC2035 SC2061 SC2062 SC2125"},
	{regexp.MustCompile(`\becho\b`), "SC2005 SC2028 SC2116"},
	{regexp.MustCompile(`\bsed\b`), "SC1003 SC2001"},
	{regexp.MustCompile(`\btr\b`), "SC2018 SC2019 SC2020 SC2021 SC2060"},
	{regexp.MustCompile(`\bread\b`), "SC2162"},
	{regexp.MustCompile(`(^|[\s;&|(])(source|\.)\s`), "SC1090 SC1091"},
	{regexp.MustCompile(`grep\b`), "SC2062 SC2126 SC2143 SC2196 SC2197"},
	{regexp.MustCompile(`>>`), "SC2129"},
	{regexp.MustCompile(`[<>]`), "SC2238"},
	{regexp.MustCompile(`<.*<`), "SC2261"},
	{regexp.MustCompile(`\(\s*\)|\bfunction\b`), "SC2032 SC2033 SC2119 SC2120 SC2317 SC2329"},
	{regexp.MustCompile(`\balias\b`), "SC2139 SC2262 SC2263"},
	{regexp.MustCompile(`&&|\|\|`), "SC2015"},
	{regexp.MustCompile(`\b(which|expr|let)\b`), "SC2003 SC2219 SC2230"},
	{regexp.MustCompile(`\[|\btest\b`), "SC2166 SC2181 SC2236"},
	{regexp.MustCompile(`\bprintf\b`), "SC2059 SC2182"},
	{regexp.MustCompile(`\bexit\b|\btrap\b`), "SC2064 SC2317"},
	{regexp.MustCompile(`["']`), "SC2016 SC2026 SC2027"},
	{regexp.MustCompile(`\{`), "SC1083"},
}

// directive returns the line that disables the remarks that a plan's commands may cause, "" if there are
// none.
func (w *writer) directive() string {
	var codes []string
	for i := range w.p.Steps {
		s := &w.p.Steps[i]
		for _, r := range remarks {
			if manual(s) == "" && r.has.MatchString(s.Command) {
				codes = append(codes, strings.Fields(r.codes)...)
			}
		}
	}
	if len(codes) == 0 {
		return ""
	}
	slices.Sort(codes)
	return fmt.Sprintf("# shellcheck disable=%s\n", strings.Join(slices.Compact(codes), ","))
}
