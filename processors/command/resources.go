package command

import (
	"path"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

type resourceKey struct {
	kind recountv1.ResourceKind
	name string
}

// argument sets the template text of a word that is not a flag, and adds the resource that it
// names.
func (r *reader) argument(it *item, want role) {
	if it.kind == kindAssignment {
		return // set when the assignment was processed
	}
	it.kind = kindArgument
	looks := shape(it)
	it.place = looks
	if looks == "" || looks == "-" || looks == "{}" || looks == "]" || looks == "/dev/null" {
		return // a substitution, which has its own items; standard input; a placeholder
	}
	switch want {
	case roleShape:
		switch looks {
		case "<path>":
			r.resource(it.value, recountv1.Access_ACCESS_READ, it)
		case "<url>":
			r.url(it, recountv1.Access_ACCESS_READ)
		case "<host>", "<ip>":
			r.host(it, recountv1.Access_ACCESS_READ)
		}
	case roleArg:
		if isAssignment(it.text) {
			r.assignment(it)
			return
		}
		switch looks {
		case "<num>", "<hash>", "<uuid>", "<var>":
		case "<url>":
			r.url(it, recountv1.Access_ACCESS_READ)
		default:
			it.place = "<arg>"
		}
	case roleText, roleScript:
		it.place = "<str>"
	case roleNumber:
		it.place = "<num>"
	case roleKeep:
		if isAssignment(it.text) {
			r.assignment(it)
			return
		}
		if it.dynamic || it.quoted || len(it.value) > 48 || looks != "<arg>" && looks != "<path>" {
			return
		}
		if looks == "<path>" && strings.Contains(it.value, "/") {
			r.resource(it.value, recountv1.Access_ACCESS_READ, it)
			return
		}
		it.place = it.value
	case roleRead, roleWrite, roleUpdate:
		access := pathAccess[want]
		if looks == "<url>" {
			r.url(it, access)
			return
		}
		r.resource(it.value, access, it)
		if it.place = "<path>"; it.glob {
			it.place = "<glob>"
		}
	case roleURL:
		it.place = "<url>"
		r.url(it, recountv1.Access_ACCESS_READ)
	case roleHost:
		it.place = "<host>"
		r.host(it, recountv1.Access_ACCESS_READ)
	case roleFrom, roleTo:
		r.endpoint(it, want)
	case roleContainer, roleNewContainer:
		it.place = "<arg>"
		r.named(recountv1.ResourceKind_RESOURCE_KIND_CONTAINER, it, namedAccess(want))
	case roleImage, roleNewImage:
		it.place = "<image>"
		r.named(recountv1.ResourceKind_RESOURCE_KIND_IMAGE, it, namedAccess(want))
	case roleBranch, roleNewBranch:
		if looks == "<hash>" || looks == "<num>" {
			return
		}
		it.place = "<branch>"
		r.named(recountv1.ResourceKind_RESOURCE_KIND_BRANCH, it, namedAccess(want))
	case rolePackage:
		if looks == "<path>" && strings.HasPrefix(it.value, ".") {
			r.resource(it.value, recountv1.Access_ACCESS_READ, it)
			return
		}
		it.place = "<pkg>"
		r.named(recountv1.ResourceKind_RESOURCE_KIND_PACKAGE, it, recountv1.Access_ACCESS_READ)
	case rolePort:
		it.place = "<port>"
		r.ports(it)
	case roleSub, roleCommand:
		// A subcommand was expected, but this is something else.
	}
}

var pathAccess = map[role]recountv1.Access{
	roleRead:   recountv1.Access_ACCESS_READ,
	roleWrite:  recountv1.Access_ACCESS_WRITE,
	roleUpdate: recountv1.Access_ACCESS_READ_WRITE,
}

// namedAccess returns the access to something with a plain name.
func namedAccess(want role) recountv1.Access {
	switch want {
	case roleNewContainer, roleNewImage, roleNewBranch:
		return recountv1.Access_ACCESS_WRITE
	}
	return recountv1.Access_ACCESS_READ
}

// note adds a resource, or widens the access to a known one.
func (r *reader) note(kind recountv1.ResourceKind, name string, access recountv1.Access) {
	if name == "" || len(name) > 1024 || r.elsewhere && kind == recountv1.ResourceKind_RESOURCE_KIND_PATH {
		return
	}
	key := resourceKey{kind, name}
	if i, ok := r.seen[key]; ok {
		if r.resources[i].Access != access {
			r.resources[i].Access = recountv1.Access_ACCESS_READ_WRITE
		}
		return
	}
	if len(r.resources) >= maxResources {
		return
	}
	if r.seen == nil {
		r.seen = make(map[resourceKey]int, 4)
	}
	r.seen[key] = len(r.resources)
	r.resources = append(r.resources, &recountv1.Resource{Kind: kind, Name: name, Access: access})
}

// resource adds a path. A path is ignored if it contains a file name pattern or an expansion other
// than of the home directory, as the file is then unknown.
func (r *reader) resource(value string, access recountv1.Access, it *item) {
	if it.glob || it.subst || strings.ContainsAny(value, "\n\x00") || strings.HasPrefix(value, "/dev/") || strings.Contains(value, "{}") {
		return
	}
	if value == "..." {
		value = "."
	}
	value = strings.TrimSuffix(value, "/...") // go's pattern for all packages below
	if name, ok := r.resolve(value, it.dynamic); ok {
		r.note(recountv1.ResourceKind_RESOURCE_KIND_PATH, name, access)
	}
}

// resolve is location.resolve in the line's current directory; it also records whether the
// directory affects the result.
func (r *reader) resolve(p string, dynamic bool) (string, bool) {
	name, ok := r.where.resolve(p, dynamic)
	if other, _ := (location{cwd: "/\x00", home: "/\x00"}).resolve(p, dynamic); other != name {
		r.placed = true
	}
	return name, ok
}

// named adds something with a plain name.
func (r *reader) named(kind recountv1.ResourceKind, it *item, access recountv1.Access) {
	if it.dynamic || it.glob || strings.ContainsAny(it.value, " \t\n") {
		return
	}
	r.note(kind, it.value, access)
}

// url adds a URL without its credentials, query and fragment, and its host.
func (r *reader) url(it *item, access recountv1.Access) {
	v := it.value
	if it.dynamic && strings.ContainsAny(v, "$`") || it.glob && strings.ContainsAny(v, "*{[") {
		return
	}
	if !isURL(v) {
		// git@host:owner/repo, host/path, ./dir
		if _, rest, ok := strings.Cut(v, "@"); ok {
			v = rest
		}
		if host, p, ok := strings.Cut(v, ":"); ok && !strings.Contains(host, "/") && host != "" && !isDigits(p) {
			r.note(recountv1.ResourceKind_RESOURCE_KIND_URL, "ssh://"+strings.ToLower(host)+"/"+strings.TrimPrefix(p, "/"), access)
			r.note(recountv1.ResourceKind_RESOURCE_KIND_HOST, strings.ToLower(host), access)
			return
		}
		host, _, _ := strings.Cut(v, "/")
		if !strings.Contains(host, ".") || strings.HasPrefix(host, ".") {
			r.resource(it.value, access, it)
			return
		}
		v = "http://" + v
	}
	scheme, rest, _ := strings.Cut(v, "://")
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	host, p, slash := strings.Cut(rest, "/")
	host = strings.ToLower(host[strings.LastIndexByte(host, '@')+1:])
	if slash {
		p = "/" + p
	}
	r.note(recountv1.ResourceKind_RESOURCE_KIND_URL, strings.ToLower(scheme)+"://"+host+p, access)
	r.hostPort(host, access)
}

// host adds the host of [user@]host[:port].
func (r *reader) host(it *item, access recountv1.Access) {
	v := it.value
	if it.dynamic || it.glob || strings.ContainsAny(v, " \t\n/=") {
		return
	}
	r.hostPort(strings.ToLower(v[strings.LastIndexByte(v, '@')+1:]), access)
}

func (r *reader) hostPort(v string, access recountv1.Access) {
	host, port, ok := strings.Cut(v, ":")
	if ok && isDigits(port) {
		r.note(recountv1.ResourceKind_RESOURCE_KIND_PORT, port, access)
		v = host
	}
	if v != "" {
		r.note(recountv1.ResourceKind_RESOURCE_KIND_HOST, v, access)
	}
}

// endpoint adds what scp, rsync and the like copy from or to: a local path, or for host:path only
// the host.
func (r *reader) endpoint(it *item, want role) {
	access := recountv1.Access_ACCESS_READ
	if want == roleTo {
		access = recountv1.Access_ACCESS_WRITE
	}
	v := it.value
	if isURL(v) {
		r.url(it, access)
		it.place = "<url>"
		return
	}
	host, _, remote := strings.Cut(v, ":")
	if !remote || strings.ContainsAny(host, "/ ") || host == "" {
		r.resource(v, access, it)
		if it.place = "<path>"; it.glob {
			it.place = "<glob>"
		}
		return
	}
	it.place = "<host>:<path>"
	r.remote = true
	if strings.Contains(host, "$") {
		return
	}
	r.note(recountv1.ResourceKind_RESOURCE_KIND_HOST, strings.ToLower(host[strings.LastIndexByte(host, '@')+1:]), access)
}

// ports adds the ports of a mapping such as 127.0.0.1:8080:80/tcp.
func (r *reader) ports(it *item) {
	if it.dynamic {
		return
	}
	v, _, _ := strings.Cut(it.value, "/")
	for part := range strings.SplitSeq(v, ":") {
		if isDigits(part) && len(part) <= 5 {
			r.note(recountv1.ResourceKind_RESOURCE_KIND_PORT, part, recountv1.Access_ACCESS_READ)
		}
	}
}

// location is the directory that paths are relative to.
type location struct {
	cwd, home string
}

// locate returns the location of a user who worked in a directory; home is the home directory, if it was
// recorded.
func locate(cwd, user, home string) location {
	where := location{cwd: cwd, home: home}
	if home != "" {
		return where
	}
	if parts := strings.Split(strings.TrimPrefix(cwd, "/"), "/"); strings.HasPrefix(cwd, "/") {
		if n := homeDepth(parts); n > 0 && (n == 1 || user == "" || parts[1] == user) {
			where.home = prefix(parts, n)
		}
	}
	switch {
	case where.home != "" || user == "" || strings.ContainsAny(user, "/ "):
	case user == "root":
		where.home = "/root"
	}
	return where
}

// resolve makes a path absolute and clean by its text alone. The home directory remains "~" if
// neither cwd nor user determines it. ok is false for a path that depends on other variables or on
// an unknown directory.
func (l location) resolve(p string, dynamic bool) (string, bool) {
	for _, v := range [...]string{"$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(p, v); ok && (rest == "" || rest[0] == '/') {
			p, dynamic = "~"+rest, strings.ContainsAny(rest, "$`")
		}
	}
	for _, v := range [...]string{"$PWD", "${PWD}"} {
		if rest, ok := strings.CutPrefix(p, v); ok && (rest == "" || rest[0] == '/') {
			p, dynamic = "."+rest, strings.ContainsAny(rest, "$`")
		}
	}
	if p == "" || dynamic {
		return "", false
	}
	switch {
	case p[0] == '/':
		return path.Clean(p), true
	case p == "~" || strings.HasPrefix(p, "~/"):
		home := l.home
		if home == "" {
			home = "~"
		}
		return path.Join(home, p[1:]), true
	case p[0] == '~':
		return path.Clean(p), true // the home of another user
	case len(p) > 1 && p[1] == ':':
		return p, true // C:\…
	case l.cwd == "" || l.cwd[0] != '/':
		return "", false
	}
	return path.Join(l.cwd, p), true
}
