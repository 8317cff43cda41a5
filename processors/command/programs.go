package command

import (
	"strings"
	"sync"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// program describes a well-known program, or one of its subcommands, in a line that reads like its
// synopsis. The arguments of a program without an entry are classified by their shape alone.
type program struct {
	// names of programs with the same usage, "cp|gcp". A subcommand follows its program's first
	// name: "git commit".
	names string
	// category of the command, unless its arguments change it (turns); 0 if the program does not
	// determine the category.
	category recountv1.Category
	// flags that take a value, with the value's role: "-m:str -o:w". Long flags begin with "--".
	flags string
	// args are the roles of the positional arguments, one of which may be repeated: "r* w" means
	// that all but the last are read and the last is written.
	args string
}

// role is what an argument means to its program.
type role uint8

const (
	roleShape        role = iota // unknown: decided by its shape         "?"
	roleArg                      // a value without a name of its own     "arg"
	roleText                     // text, a pattern, a program            "str"
	roleNumber                   // a number, a size, a time              "num"
	roleRead                     // a path that is read                   "r"
	roleWrite                    // a path that is written or removed     "w"
	roleUpdate                   // a path that is changed in place       "u"
	roleURL                      //                                       "url"
	roleHost                     // [user@]host                           "host"
	roleFrom                     // a path here or host:path, read        "from"
	roleTo                       // a path here or host:path, written     "to"
	roleContainer                // a container, a pod, a service of it   "ctr"
	roleImage                    //                                       "img"
	roleBranch                   // a branch, tag or revision             "br"
	roleNewContainer             // created, changed or removed           "ctrw"
	roleNewImage                 //                                       "imgw"
	roleNewBranch                //                                       "brw"
	rolePackage                  //                                       "pkg"
	rolePort                     // a port, or a mapping of ports         "port"
	roleKeep                     // a word that belongs to the template   "word"
	roleSub                      // a subcommand                          "sub"
	roleCommand                  // the start of another command          "cmd"
	roleScript                   // a command line in one word            "script"
)

var roleNames = map[string]role{
	"?": roleShape, "arg": roleArg, "str": roleText, "num": roleNumber, "r": roleRead, "w": roleWrite,
	"u": roleUpdate, "url": roleURL, "host": roleHost, "from": roleFrom, "to": roleTo, "ctr": roleContainer,
	"img": roleImage, "br": roleBranch, "ctrw": roleNewContainer, "imgw": roleNewImage, "brw": roleNewBranch, "pkg": rolePackage, "port": rolePort, "word": roleKeep,
	"sub": roleSub, "cmd": roleCommand, "script": roleScript,
}

// families returns the tables of programs, one per file.
func families() [][]program {
	return [][]program{
		filePrograms, textPrograms, gitPrograms, containerPrograms, networkPrograms,
		packagePrograms, buildPrograms, systemPrograms, shellPrograms, agentPrograms,
	}
}

// synopsis is a compiled program entry.
type synopsis struct {
	first    string // its first name, which prefixes its subcommands
	category recountv1.Category
	flags    map[string]role
	before   []role // positional arguments from the left
	repeat   role   // then any number of these
	repeats  bool
	after    []role // then these at the right end
}

var synopses = sync.OnceValue(func() map[string]*synopsis {
	all := map[string]*synopsis{}
	for _, family := range families() {
		for _, p := range family {
			s := compile(p)
			for i, name := range strings.Split(p.names, "|") {
				if i > 0 {
					// "git checkout|switch" includes git switch.
					name = s.first[:strings.LastIndexByte(s.first, ' ')+1] + name
				}
				if _, twice := all[name]; twice {
					panic("command: " + name + " stands twice in the tables")
				}
				all[name] = s
			}
		}
	}
	return all
})

// Describes reports whether the tables describe a program, or a subcommand with its program before it, as in
// "git commit"; subcommands reports whether the first operand of the program is one.
func Describes(name string) (described, subcommands bool) {
	s := synopses()[name]
	return s != nil, s != nil && len(s.before) > 0 && s.before[0] == roleSub
}

func compile(p program) *synopsis {
	first, _, _ := strings.Cut(p.names, "|")
	s := &synopsis{first: first, category: p.category, flags: map[string]role{}}
	for _, f := range strings.Fields(p.flags) {
		name, r, ok := strings.Cut(f, ":")
		if !ok {
			r = "arg"
		}
		s.flags[name] = mustRole(p.names, r)
	}
	for _, a := range strings.Fields(p.args) {
		if name, star := strings.CutSuffix(a, "*"); star {
			s.repeat, s.repeats = mustRole(p.names, name), true
			continue
		}
		if s.repeats {
			s.after = append(s.after, mustRole(p.names, a))
		} else {
			s.before = append(s.before, mustRole(p.names, a))
		}
	}
	return s
}

func mustRole(program, name string) role {
	r, ok := roleNames[name]
	if !ok {
		panic("command: the table of " + program + " has an unknown role " + name)
	}
	return r
}

// roleAt returns the role of the i-th of n positional arguments.
func (s *synopsis) roleAt(i, n int) role {
	switch {
	case i < len(s.before) && (s.repeats || i < n):
		if len(s.after) > 0 && n-i <= len(s.after) && n > 1 {
			return s.after[len(s.after)-(n-i)]
		}
		return s.before[i]
	case len(s.after) > 0 && n > 1 && n-i <= len(s.after):
		return s.after[len(s.after)-(n-i)]
	case s.repeats:
		return s.repeat
	}
	return roleShape
}

// withoutPattern returns the synopsis for a call in which a flag supplies the pattern.
func (s *synopsis) withoutPattern() *synopsis {
	short := *s
	short.before = s.before[1:]
	return &short
}

// repeated reports whether the i-th of n arguments is in the part that may be repeated.
func (s *synopsis) repeated(i, n int) bool {
	return s.repeats && s.repeat != roleShape && s.repeat != roleKeep && i >= len(s.before) && (n == 1 || n-i > len(s.after))
}

// lookup returns the synopsis of a program by the name it was called with, nil if there is none. It
// ignores versions ("python3.12", "gcc-13") and ".exe".
func lookup(name string) *synopsis {
	all := synopses()
	if s := all[name]; s != nil {
		return s
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	if s := all[name]; s != nil {
		return s
	}
	return all[strings.TrimRight(name, "0123456789.-")]
}

// base returns the last element of a path with either kind of slash.
func base(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// These are short names for the tables.
const (
	catBuild     = recountv1.Category_CATEGORY_BUILD
	catDeploy    = recountv1.Category_CATEGORY_DEPLOY
	catDebug     = recountv1.Category_CATEGORY_DEBUG
	catConfigure = recountv1.Category_CATEGORY_CONFIGURE
	catQuery     = recountv1.Category_CATEGORY_QUERY
	catNavigate  = recountv1.Category_CATEGORY_NAVIGATE
	catOther     = recountv1.Category_CATEGORY_OTHER
)
