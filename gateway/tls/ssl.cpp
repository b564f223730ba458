#include "tls/ssl.hpp"
