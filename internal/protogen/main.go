// Command protogen compiles schemas/recount/v1/*.proto. `protogen generate` writes the Go types with
// protoc-gen-go. `protogen lint` checks style and `protogen breaking` compares with the frozen
// descriptor set, both with buf; `protogen freeze` replaces that set after a release.
//
// It is needed because buf downloads imports from a registry: here the only import,
// buf/validate/validate.proto, comes from the descriptor that the protovalidate module registers,
// so that nothing is downloaded beyond go.mod.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	_ "buf.build/go/protovalidate"
	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	root   = "schemas"
	frozen = "schemas/testdata/frozen.binpb"
	// bufTool has a fixed version outside go.mod: it requires an older CEL than protovalidate, and
	// the two do not build together.
	bufTool = "github.com/bufbuild/buf/cmd/buf@v1.72.0"

	ours = `{"version":"v1","lint":{"ignore":["buf","google"]},"breaking":{"use":["FILE"],"ignore":["buf","google"]}}`
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
	if verb == "generate" {
		return generate(set)
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
	case "lint":
		return buf("lint", image, "--config", ours)
	case "breaking":
		return buf("breaking", image, "--config", ours, "--against", frozen)
	}
	return fmt.Errorf("unknown verb %q", verb)
}

// generate writes the Go types of our files with protoc-gen-go, which needs neither protoc nor buf.
func generate(set []byte) error {
	var files descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(set, &files); err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{Parameter: proto.String("paths=source_relative"), ProtoFile: files.File}
	for _, f := range files.File {
		if strings.HasPrefix(f.GetName(), "recount/") {
			request.FileToGenerate = append(request.FileToGenerate, f.GetName())
		}
	}
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", "protoc-gen-go")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("protoc-gen-go: %w", err)
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return errors.New(response.GetError())
	}
	for _, f := range response.File {
		if err := os.WriteFile(filepath.Join(root, f.GetName()), []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
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
