package command

import (
	"strings"
	"sync"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// program is what we know of a well-known program, or of one of its
// subcommands, as a line of text that reads like its synopsis. A program that
// stands in no table is read by the shapes of its arguments alone.
type program struct {
	// names of programs that are used alike, "cp|gcp"; a subcommand stands
	// behind its program's first name: "git commit".
	names string
	// category of the command, unless its arguments say otherwise (turns); 0: it
	// says nothing of what the whole is for.
	category recountv1.Category
	// flags that take a value, with the value's role: "-m:str -o:w"; "--" before
	// the name where it is long.
	flags string
	// args are the roles of the positional arguments, of which one may be
	// repeated: "r* w" is all but the last read, the last one written.
	args string
}

// role is what an argument is to its program.
type role uint8

const (
	roleShape        role = iota // nothing known: go by its shape        "?"
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
	roleNewContainer             // one that is made, changed or removed  "ctrw"
	roleNewImage                 //                                       "imgw"
	roleNewBranch                //                                       "brw"
	rolePackage                  //                                       "pkg"
	rolePort                     // a port, or a mapping of ports         "port"
	roleKeep                     // a word that belongs to the template   "word"
	roleSub                      // a subcommand                          "sub"
	roleCommand                  // the start of a command of its own     "cmd"
	roleScript                   // a command line in one word "script"
)

var roleNames = map[string]role{
	"?": roleShape, "arg": roleArg, "str": roleText, "num": roleNumber, "r": roleRead, "w": roleWrite,
	"u": roleUpdate, "url": roleURL, "host": roleHost, "from": roleFrom, "to": roleTo, "ctr": roleContainer,
	"img": roleImage, "br": roleBranch, "ctrw": roleNewContainer, "imgw": roleNewImage, "brw": roleNewBranch, "pkg": rolePackage, "port": rolePort, "word": roleKeep,
	"sub": roleSub, "cmd": roleCommand, "script": roleScript,
}

// families are the tables of programs, one file each.
func families() [][]program {
	return [][]program{
		filePrograms, textPrograms, gitPrograms, containerPrograms, networkPrograms,
		packagePrograms, buildPrograms, systemPrograms, shellPrograms, agentPrograms,
	}
}

// synopsis is a program's line, compiled.
type synopsis struct {
	first    string // the first of its names, behind which its subcommands stand
	category recountv1.Category
	flags    map[string]role
	before   []role // positional arguments from the left
	repeat   role   // and any number of these
	repeats  bool
	after    []role // and these at the right end
}

var synopses = sync.OnceValue(func() map[string]*synopsis {
	all := map[string]*synopsis{}
	for _, family := range families() {
		for _, p := range family {
			s := compile(p)
			for i, name := range strings.Split(p.names, "|") {
				if i > 0 {
					// "git checkout|switch" means git switch too.
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

// at is the role of the i-th of n positional arguments.
func (s *synopsis) at(i, n int) role {
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

// withoutPattern is the synopsis where a flag has given the pattern already.
func (s *synopsis) withoutPattern() *synopsis {
	short := *s
	short.before = s.before[1:]
	return &short
}

// repeated reports whether the i-th of n is one of those that may be repeated.
func (s *synopsis) repeated(i, n int) bool {
	return s.repeats && s.repeat != roleShape && s.repeat != roleKeep && i >= len(s.before) && (n == 1 || n-i > len(s.after))
}

// lookup finds the synopsis of a program by the name it was called with:
// versions ("python3.12", "gcc-13") and ".exe" do not matter.
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

// base is the last part of a path, of either kind of slash.
func base(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// Short names for the tables.
const (
	catBuild     = recountv1.Category_CATEGORY_BUILD
	catDeploy    = recountv1.Category_CATEGORY_DEPLOY
	catDebug     = recountv1.Category_CATEGORY_DEBUG
	catConfigure = recountv1.Category_CATEGORY_CONFIGURE
	catQuery     = recountv1.Category_CATEGORY_QUERY
	catNavigate  = recountv1.Category_CATEGORY_NAVIGATE
	catOther     = recountv1.Category_CATEGORY_OTHER
)
