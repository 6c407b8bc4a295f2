import { openMemoryStore } from './memory-store.ts';
import { storeContract } from '../store-contract/store-contract.ts';

storeContract('memory', { open: async (options) => openMemoryStore(options) });
