// Command protogen compiles schemas/recount/v1/*.proto and passes the result to buf: `protogen
// generate` writes the Go types, `protogen lint` checks style, `protogen breaking` compares with
// the frozen descriptor set, and `protogen freeze` replaces that set after a release.
//
// It is needed because buf downloads imports from a registry: here the only import,
// buf/validate/validate.proto, comes from the descriptor that the protovalidate module registers,
// so that nothing is downloaded beyond go.mod.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	_ "buf.build/go/protovalidate"
	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

const (
	root   = "schemas"
	frozen = "schemas/testdata/frozen.binpb"
	// bufTool has a fixed version outside go.mod: it requires an older CEL than protovalidate, and
	// the two do not build together.
	bufTool = "github.com/bufbuild/buf/cmd/buf@v1.72.0"

	ours   = `{"version":"v1","lint":{"ignore":["buf","google"]},"breaking":{"use":["FILE"],"ignore":["buf","google"]}}`
	golang = `{"version":"v2","plugins":[{"local":["go","tool","protoc-gen-go"],"out":"schemas","opt":["paths=source_relative"]}]}`
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: protogen generate|lint|breaking|freeze (in the repository's root)")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(verb string) error {
	set, err := compile()
	if err != nil {
		return err
	}
	if verb == "freeze" {
		return os.WriteFile(frozen, set, 0o644)
	}
	tmp, err := os.MkdirTemp("", "protogen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	image := filepath.Join(tmp, "set.binpb")
	if err := os.WriteFile(image, set, 0o600); err != nil {
		return err
	}
	switch verb {
	case "generate":
		return buf("generate", image, "--template", golang, "--path", "recount")
	case "lint":
		return buf("lint", image, "--config", ours)
	case "breaking":
		return buf("breaking", image, "--config", ours, "--against", frozen)
	}
	return fmt.Errorf("unknown verb %q", verb)
}

func buf(args ...string) error {
	cmd := exec.Command("go", append([]string{"run", bufTool}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// compile returns a FileDescriptorSet of our files and their imports, imports first, with source
// information for our files.
func compile() ([]byte, error) {
	paths, err := filepath.Glob(filepath.Join(root, "recount", "*", "*.proto"))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	for i, p := range paths {
		if paths[i], err = filepath.Rel(root, p); err != nil {
			return nil, err
		}
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: []string{root}},
			protocompile.ResolverFunc(linked),
		},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), paths...)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		if r, ok := f.(linker.Result); ok {
			set.File = append(set.File, r.FileDescriptorProto())
			return
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	for _, f := range files {
		add(f)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(set)
}

func linked(path string) (protocompile.SearchResult, error) {
	d, err := protoregistry.GlobalFiles.FindFileByPath(path)
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	return protocompile.SearchResult{Desc: d}, nil
}
