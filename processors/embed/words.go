package embed

import "strings"

// appendWords appends the words of a text: runs of letters and digits, in lower case and stemmed.
func appendWords(words []string, text string) []string {
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isWordByte(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start <= 64 {
			words = append(words, stem(strings.ToLower(text[start:i])))
		}
		start = -1
	}
	return words
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// stem removes common endings from an English word. It is simpler than Porter's stemmer and only
// has to treat both sides alike: files and file become "fil", copied and copies "copy", removing
// and remove "remov".
func stem(w string) string {
	n := len(w)
	if n <= 3 || w[n-1] >= '0' && w[n-1] <= '9' || w == "logged" { // logged in; it must not match writing to a log
		return w
	}
	switch {
	case n > 4 && (strings.HasSuffix(w, "ies") || strings.HasSuffix(w, "ied")):
		return w[:n-3] + "y"
	case strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes"):
		w = w[:n-2]
	case strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is"):
	case w[n-1] == 's':
		w = w[:n-1]
	}
	n = len(w)
	switch {
	case n > 5 && strings.HasSuffix(w, "ing"):
		w = undouble(w[:n-3])
	case n > 4 && strings.HasSuffix(w, "ed"):
		w = undouble(w[:n-2])
	}
	if n = len(w); n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
	}
	return w
}

func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && w[n-1] != 's' && w[n-1] != 'l' {
		return w[:n-1]
	}
	return w
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
		m[stem(w)] = true
	}
	return m
}

// little are words that carry no meaning in a query.
var little = set(`a an the of to in into on onto for and is are be been being was were that this these those
	which who whom whose with from by at as it its them they their there then here i me my we our you your
	using use uses used via if so do does did done can could should would will shall may might must
	has have had having also but any some such per up out over about between both its given
	all each every just please want need how what when where`)

// common words occur in so many texts that they hardly distinguish them; their weight as words is
// low, whatever the weights of their classes.
var common = set(`find file files name type print directory directories folder exec echo grep current
	list command output path line lines dir search txt test`)

// alsoEnglish are programs whose names are English words: in a sentence they are read as the word.
var alsoEnglish = set(`find sort cut more less which who at time test make set read date last head tail look file
	host kill wait split join paste watch type link install free top users groups id script command help
	info history history jobs source export case for while do done column fold strings size strip start
	open view code write print patch service mount watch sleep exit rename expand number w what screen
	touch compress go task just expect yes as at dir clear reset convert identify display import factor
	uniq users groups tree port bind alias env local select trap true false hash cancel parallel dialog
	shred`)

// function holds function words of English. Two of them indicate a sentence; a command with file
// names may contain one by chance.
var function = set(`the a an of in to all with from that are is for by and which into on their have not as it
	within under`)

func isCapitalised(w string) bool {
	if len(w) < 2 || w[0] < 'A' || w[0] > 'Z' {
		return false
	}
	for i := 1; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return true
}

// looksLikeShell distinguishes a command from an English description. A command has flags,
// operators or similar signs; a sentence has function words. If neither is found ("ls", "disk
// usage") the first word decides.
func looksLikeShell(text string) bool {
	signs, english, words := 0, 0, 0
	first := ""
	for f := range strings.FieldsSeq(text) {
		words++
		if words == 1 {
			first = f
		}
		switch {
		case len(f) > 1 && (f[0] == '-' || f[0] == '+' && words == 2) && (f[1] >= 'a' && f[1] <= 'z' || f[1] >= 'A' && f[1] <= 'Z' || f[1] >= '0' && f[1] <= '9' || f[1] == '-'):
			signs++
		case f == "|" || f == "||" || f == "&&" || f == ">" || f == ">>" || f == "<" || f == ";" || f == "2>&1" || f == `\;` || f == "{}":
			signs += 2
		case strings.HasPrefix(f, "$(") || strings.HasPrefix(f, "`") || strings.HasSuffix(f, ";") && words > 1:
			signs++
		case len(f) <= 6 && function[strings.ToLower(f)]:
			english++
		}
		if words >= 40 {
			break
		}
	}
	_, program := compiled().shell.newest[first]
	switch {
	case isCapitalised(first):
		return false // "Execute 'ls -l' …"; cmdlets contain a dash
	case english >= 2 && english >= signs:
		return false
	case signs > 0:
		return true
	case program && !alsoEnglish[first]:
		return true
	case program && english == 0:
		return words <= 1 || strings.ContainsAny(text, "/.*$~=\"'")
	}
	return english == 0 && (strings.ContainsAny(first, "/=$") || words > 1 && strings.Contains(first, "./"))
}
