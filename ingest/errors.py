"""The errors a caller may see, drawn as a tree.

ServiceError                      anything this service raises on purpose
 ├─ ConfigurationError            settings or files that cannot work; the program exits 2
 │   ├─ EmbedderMismatch          the index was built with another embedder
 │   ├─ UnknownDataFormat         the data folder was written by another format version
 │   └─ ModelPackageError         a file of the packaged model is missing or altered
 ├─ DataFolderHeld                another process holds the data folder; exits 5
 ├─ InvalidRequest                the caller's input is wrong
 │   └─ InvalidFilter             a filter names an unknown key or a value that is no scalar
 ├─ NotFound                      an unknown or forbidden thing: both look the same
 │   └─ UnknownKnowledgeBase
 ├─ LoadError                     one file could not be read; the others go on
 │   └─ UnsupportedFile           a type this service has no loader for
 └─ DependencyError               a store, model or remote service failed
     └─ DependencyTimeout
"""


class ServiceError(Exception):
    """Something the service raises on purpose; `code` is stable and machine-readable."""

    code = "internal"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code

    @property
    def message(self) -> str:
        return str(self)


class ConfigurationError(ServiceError):
    code = "configuration"


class EmbedderMismatch(ConfigurationError):
    code = "embedder_mismatch"


class UnknownDataFormat(ConfigurationError):
    code = "unknown_data_format"


class ModelPackageError(ConfigurationError):
    code = "model_package"


class DataFolderHeld(ServiceError):
    code = "data_folder_held"


class InvalidRequest(ServiceError):
    code = "invalid_request"


class InvalidFilter(InvalidRequest):
    code = "invalid_request"


class NotFound(ServiceError):
    code = "not_found"


class UnknownKnowledgeBase(NotFound):
    code = "unknown_knowledge_base"


class LoadError(ServiceError):
    """`code` is one of: empty, encrypted, broken, too_large, no_text, unsupported,
    invalid_acl, invalid_metadata."""

    code = "broken"


class UnsupportedFile(LoadError):
    code = "unsupported"


class DependencyError(ServiceError):
    code = "dependency_down"


class DependencyTimeout(DependencyError):
    code = "dependency_timeout"
