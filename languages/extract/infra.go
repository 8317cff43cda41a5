package extract

import (
	"regexp"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Shared by formats that describe infrastructure: YAML, Dockerfiles, Terraform and SQL.

// Kinds of nodes and edges, by short names.
const (
	KindResource = recountv1.SymbolKind_SYMBOL_KIND_RESOURCE

	DependsOn  = recountv1.EdgeKind_EDGE_KIND_DEPENDS_ON
	Deploys    = recountv1.EdgeKind_EDGE_KIND_DEPLOYS
	Exposes    = recountv1.EdgeKind_EDGE_KIND_EXPOSES
	Configures = recountv1.EdgeKind_EDGE_KIND_CONFIGURES
	Executes   = recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS
	ReadsEnv   = recountv1.EdgeKind_EDGE_KIND_READS_ENV
)

// Prefixes of the paths of references to things outside the format.
const (
	ImagePath = "image:"
	FilePath  = "file:"
	EnvPath   = "env:"
)

// EnvName matches the name of an environment variable.
var EnvName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
