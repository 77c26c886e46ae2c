extern "C" __attribute__((visibility("default"))) int cuzk_abi_version() { return 1; }
